"""What a type checker sees of forebay: programs that are right pass, misspelt names do not."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")

RIGHT = """
import forebay as fb


class InOrder(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job, fb.LogReason.NONE)


result: fb.Result = fb.simulate(fb.read("table1"), fb.platform("table1"), InOrder(), seed=1)
numbers: dict[str, float | int | None] = fb.summary(result, window=(0, 600))
names: list[str] = fb.figures.names()
"""
WRONG = """
import forebay as fb

fb.simulat(fb.read("table1"))
fb.simulate(fb.read("table1"), sead=1)
fb.summary("out")
"""


@pytest.mark.full  # `make lint` checks examples, which are programs too; reading all that they import takes 11 s
def test_strict_mypy_takes_right_programs_and_catches_wrong_names(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "right.py", "wrong.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.partition(": error:")[0] for line in found] == ["wrong.py:4", "wrong.py:5", "wrong.py:6"], done.stdout
    assert "simulat" in found[0]
    assert "sead" in found[1]
