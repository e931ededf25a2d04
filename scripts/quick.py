"""Lint, and the tests of what has changed, with the compiler off: `make quick`.

    python scripts/quick.py [COMMIT]

Changed is what differs from a commit: by default from where this branch left the one that it follows, if it follows
one, else from the last commit; files that git does not know yet count. A file of a room (a folder of src/forebay)
brings the tests of that room, a file of tests itself. What nothing is compiled for is quick; `make test` has the rest.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
PYTHON_FOLDERS = ("src", "tests", "examples", "benchmarks", "scripts", "docs/conf.py")
ALWAYS = ("tests/test_house_rules.py", "tests/test_docstrings.py", "tests/test_public_surface.py")


def _git(*arguments: str) -> list[str]:
    """Lines that git prints; none where it fails."""
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.splitlines() if found.returncode == 0 else []


def changed(since: str = "") -> list[str]:
    """Files that differ from a commit, and are still there."""
    base = [since] if since else _git("merge-base", "HEAD", "@{upstream}") or ["HEAD"]
    names = _git("diff", "--name-only", base[0]) + _git("ls-files", "--others", "--exclude-standard")
    return [name for name in dict.fromkeys(names) if (ROOT / name).is_file()]


def room_of(name: str, root: Path = ROOT) -> str | None:
    """Where the tests of a file are: the file itself, or the folder that mirrors its room most closely."""
    path = Path(name)
    if path.parts[0] == "tests":
        if path.name.startswith("test_"):
            return name
        return None if path.parent == Path("tests") else path.parent.as_posix()
    if path.parts[:2] != ("src", "forebay"):
        return None
    room = Path("tests", *path.parts[2:-1])
    own = root / room / f"test_{path.stem.lstrip('_')}.py"
    if own.is_file():
        return own.relative_to(root).as_posix()
    while room != Path("tests") and not (root / room).is_dir():
        room = room.parent
    return None if room == Path("tests") else room.as_posix()


def main() -> int:
    """Run it; the exit code says whether all passed."""
    names = changed(*sys.argv[1:2])
    tests = sorted({room for name in names if (room := room_of(name))})
    tests = [one for one in tests if not any(one.startswith(f"{other}/") for other in tests)]
    print("tests of what has changed:", ", ".join(tests) or "nothing", flush=True)
    lint = [
        [BIN / "ruff", "check", *PYTHON_FOLDERS],
        [BIN / "ruff", "format", "--check", *PYTHON_FOLDERS],
        [BIN / "mypy"],
        [BIN / "lint-imports"],
    ]
    off = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    run = [BIN / "pytest", "-n", "2", "--dist", "worksteal", "-m", "small and not full", *ALWAYS, *tests]
    with ThreadPoolExecutor(1) as pool:  # types are checked beside the tests
        linted = pool.submit(lambda: [subprocess.call(command, cwd=ROOT) for command in lint])
        tested = subprocess.call(run, cwd=ROOT, env=off)
        return int(any(linted.result()) or tested not in (0, 5))  # 5: no test is small


if __name__ == "__main__":
    sys.exit(main())
