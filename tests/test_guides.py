"""The guides to adding things, carried out: their files are put into a copy of the package, their commands are run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[1]
GUIDES = ROOT / "docs" / "guides" / "extend"
PAGES = ("policies", "machines", "workloads", "answers")
FILE = re.compile(r"`([\w/.]+\.(?:py|toml))`:\n\n```(?:python|toml)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ forebay (.*)$", re.MULTILINE)
DRIVER = """
import shlex, sys
from forebay.cli.main import main
for line in sys.stdin:
    print("$ forebay", line, end="", flush=True)
    try:
        main(shlex.split(line))
    except SystemExit as end:
        if end.code:
            raise
"""


def test_every_guide_works_as_it_is_written(tmp_path):
    assert {page.stem for page in GUIDES.iterdir()} == set(PAGES)
    text = "\n".join((GUIDES / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(parts) == 9
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for part in parts:
        assert FILE.findall(part), part
        assert COMMAND.findall(part), part
        for name, body in FILE.findall(part):
            path = tmp_path / name
            assert not path.exists(), name
            path.parent.mkdir(exist_ok=True)  # a study is a folder; those of all others are there
            path.write_text(body, encoding="utf-8")
    # Interpreted: nothing is compiled for a package that is gone in a moment.
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        check=False,
        input="\n".join(COMMAND.findall(text)) + "\n",
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "NUMBA_DISABLE_JIT": "1", "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "longest_wait" in done.stdout
    for folder in ("out-policy", "out-family", "out-tier", "out-topology", "out-format", "out-model", "out-metric"):
        assert (tmp_path / folder / "jobs.csv").stat().st_size > 100, folder
    assert {path.suffix for path in (tmp_path / "out-figure").iterdir()} == {".svg", ".csv"}
    assert "fcfs-easy" in (tmp_path / "out-study" / "report.md").read_text(encoding="utf-8")
