"""Every example runs and prints what stands beside it: examples that cannot rot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_it_promises(path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    assert done.stdout == path.with_suffix(".out").read_text()


RUNS_CELLS = """
import contextlib, io, json, sys
space, printed = {"__name__": "__main__"}, []
for cell in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(cell, space)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def test_the_notebook_goes_from_a_policy_to_a_paper(tmp_path):
    """As Jupyter would run it: cell by cell, in one process, with a folder of its own."""
    notebook = json.loads((EXAMPLES[0].parent / "paper.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    code = ["".join(cell["source"]) for cell in cells]
    assert sum(bool(line.strip()) for cell in code for line in cell.splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, "-c", RUNS_CELLS], input=json.dumps(code), cwd=tmp_path, capture_output=True, text=True,
        timeout=300, check=True, env=os.environ | {"MPLBACKEND": "agg"},
    )  # fmt: skip
    assert json.loads(done.stdout) == [
        "".join(line for out in cell["outputs"] for line in out["text"]) for cell in cells
    ]
    assert (tmp_path / "waits.pdf").read_bytes().startswith(b"%PDF")


def draw(example, path):
    root = Path(__file__).parents[1]
    subprocess.run([sys.executable, str(root / "examples" / f"{example}.py"), str(path)], check=True, timeout=300)
    return path.read_text(), (root / "docs" / path.name).read_text()


def test_the_picture_in_the_docs_is_the_one_the_example_draws(tmp_path):
    drawn, shown = draw("gantt_svg", tmp_path / "table1.svg")
    assert drawn == shown


def test_the_picture_of_starvation_has_a_rectangle_a_job_in_each_panel(tmp_path):
    """Not to the byte: versions of matplotlib differ."""
    for text in draw("starvation", tmp_path / "starvation.svg"):
        assert text.count("fill: #56b4e9") == 2 * 20
        assert text.count("fill: #d55e00") >= 2  # and a word
