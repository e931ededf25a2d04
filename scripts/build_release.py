"""Build a release into dist/ and try it as its users will: python scripts/build_release.py

The sdist and the wheel are built and checked; the wheel's contents and its page on a package index are looked over; and
it is installed and run in an empty environment of every supported Python that is here. The wheel brings compiled code
for each of these, which takes some minutes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13")
NEEDED = ("forebay/py.typed", "forebay/studies/kopanski2021/expected.csv", "forebay/studies/kopanski2021/study.toml")
OUTSIDE = re.compile(r"\]\((?!https?:|#)([^)]*)\)")

MADE_FOR = """
import platform
from forebay._numba import packaged
print(packaged.name(), *packaged.PORTABLE[platform.machine()])
"""


def run(*words: str | Path, **environment: str) -> str:
    """What a command prints; a failure ends everything, with all that it said."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, words))}")
    return done.stdout.strip()


def look_over(wheel: Path) -> None:
    """The wheel holds the package and nothing else, and its page has no link that leads nowhere."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        page = archive.read(metadata).decode()
    inside = ("forebay/", metadata.removesuffix("METADATA"))
    problems = [f"does not belong there: {name}" for name in names if not name.startswith(inside)]
    problems += [f"does not belong there: {name}" for name in names if "test_" in name or "__pycache__" in name]
    problems += [f"missing: {name}" for name in NEEDED if name not in names]
    problems += [f"a link of the README that no index can follow: {link}" for link in OUTSIDE.findall(page)]
    if problems:
        sys.exit("\n".join([f"{wheel.name}:", *problems]))
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB")


def found(version: str) -> str | None:
    """The Python of this version, if there is one that runs: a name alone may be a signpost to nothing."""
    python = shutil.which(f"python{version}")
    if python and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
        return python
    return None


def install(wheel: Path, python: str, folder: Path) -> Path:
    """The wheel alone, in an empty environment; returns its commands."""
    run(python, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder / "bin"


def compile_for(wheel: Path, python: str, code: Path) -> None:
    """Compile all kernels of a pure wheel for every processor of this kind, as this Python finds them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands, there = install(wheel, python, folder), {"FOREBAY_CACHE_DIR": f"{folder}/cache", "PYTHONPATH": ""}
        key, cpu, features = run(commands / "python", "-c", MADE_FOR, **there).split()
        run(commands / "forebay", "warmup", NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES=features, **there)
        for kernel in (folder / "cache").glob("*/*.kernel"):
            (code / key).mkdir(parents=True, exist_ok=True)
            shutil.copy(kernel, code / key)


def try_out(wheel: Path, python: str) -> None:
    """Install the wheel alone, and run it from a cold start: nothing may be compiled."""
    with tempfile.TemporaryDirectory() as name:
        commands, home = install(wheel, python, Path(name)), {"HOME": name, "XDG_CACHE_HOME": "", "PYTHONPATH": ""}
        print(f"{Path(python).name}: {run(commands / 'forebay', '--version')}")
        begun = time.perf_counter()
        said = run(commands / "forebay", "run", "table1", **home)
        if "mean wait" not in said or "Compiling" in said:
            sys.exit(said)
        print("  forebay run table1:", *(line for line in said.splitlines() if line.startswith("mean wait")))
        print(f"  the first run took {time.perf_counter() - begun:.1f} s")


def main() -> None:
    """Build, check, try."""
    shutil.rmtree(DIST, ignore_errors=True)
    pythons = {version: found(version) for version in PYTHONS}
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder)
        (pure,) = Path(folder).glob("*.whl")
        for python in filter(None, pythons.values()):
            compile_for(pure, python, Path(folder) / "code")
        run(sys.executable, "-m", "build", "--outdir", DIST, FOREBAY_WHEEL_CODE=f"{folder}/code")
    built = [path.relative_to(ROOT) for path in sorted(DIST.iterdir())]
    print(run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *built))
    (wheel,) = DIST.glob("*.whl")
    look_over(wheel)
    for version, python in pythons.items():
        if python:
            try_out(wheel, python)
        else:
            print(f"python{version}: skipped, it is not on this machine")


if __name__ == "__main__":
    main()
