"""Every example runs and prints what stands beside it: examples that cannot rot."""

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


def test_the_picture_in_the_docs_is_the_one_the_example_draws(tmp_path):
    root = Path(__file__).parents[1]
    drawn = tmp_path / "table1.svg"
    subprocess.run([sys.executable, str(root / "examples" / "gantt_svg.py"), str(drawn)], check=True, timeout=300)
    assert drawn.read_text() == (root / "docs" / "table1.svg").read_text()
