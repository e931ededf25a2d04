"""The one-time wait for the compiler: announced, measured, and had in advance if one likes."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forebay._numba.folder import cache_folder
from forebay._run import compilation
from forebay.cli.warmup import OTHERWISE
from forebay.errors import ForebayError
from forebay.policies import _kernels as kernels
from forebay.policies import load
from forebay.policies import names as policies_of_ours


def test_warmup_compiles_and_says_where(forebay):
    code, out, _ = forebay("warmup", "--format", "json")
    assert code == 0
    document = json.loads(out)
    assert document["seconds"] > 0
    assert any(Path(document["cache"]).glob("forebay.engine.loop.run_compiled-*.kernel"))
    assert document["cache"] in forebay("warmup").out


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What is asked of the compiler, with nothing in the cache."""
    done = []
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    monkeypatch.setattr(compilation, "compile_parts", lambda parts, line: done.extend(parts))
    monkeypatch.setattr(compilation, "load", lambda parts: None)
    monkeypatch.setattr(compilation, "_fault_of", lambda part: "missing")
    monkeypatch.setattr(compilation, "_here", set())
    return done


def _entered(parts):
    """Without what every run needs."""
    return {function for module, function in parts if "setformat" not in module}


def test_a_cold_cache_is_announced(asked, capsys):
    compilation.prepare([load("fcfs-bb")])
    assert _entered(asked) == {"run_compiled", "backfill"}
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"Compiling, once: about \d+ s ...", first)
    assert second.startswith("compiled in ")


def test_plain_policies_need_the_bridge_and_no_backfill(asked, policies):
    compilation.prepare([load(f"{policies}:InOrder")])
    assert _entered(asked) == {"run_compiled", "call_python"}


def test_plans_need_no_backfill_and_limits_change_nothing(asked):
    """A plan's kernel takes in what it uses of backfilling."""
    compilation.prepare([load("plan-2"), load("plan-2+limits:user_jobs=1")])
    assert _entered(asked) == {"run_compiled", "plan"}


def test_a_warm_cache_is_not(forebay, monkeypatch, capsys):
    forebay("warmup")
    capsys.readouterr()
    monkeypatch.setattr(compilation, "compile_parts", None)
    monkeypatch.setattr(compilation, "_here", set())
    compilation.prepare([load("fcfs-bb")])
    assert capsys.readouterr().err == ""


def test_every_policy_says_what_it_enters():
    """None is left to compile in the middle of a run."""
    for name in policies_of_ours():
        policy = load(name)
        entered = _entered(compilation.needed([policy])) - {"run_compiled"}
        assert len(entered) == 1 + (name == "plan-predict"), name  # which learns in Python and plans compiled
        assert ("call_python" in entered) == (policy.kernel() is None), name


def test_warmup_leaves_no_kernel_of_a_policy_to_be_compiled():
    """Also where a parameter leads to another kernel than the policy's name does."""
    folder = Path(kernels.__file__).parent
    written = {
        (f"{compilation.KERNELS}{'.'.join(path.relative_to(folder).with_suffix('').parts)}", name)
        for path in folder.rglob("*.py")
        for name in re.findall(r"^@policy_kernel\ndef (\w+)", path.read_text(), re.MULTILINE)
    }
    every = map(load, (*policies_of_ours(), *OTHERWISE))
    assert len(written) > 15
    assert written <= {*compilation.needed(every)}


def test_what_cannot_be_compiled_is_said():
    with pytest.raises(ForebayError, match="no_such_kernel could not be compiled"):
        compilation.compile_parts([("forebay.engine.loop", "no_such_kernel")])


def test_a_line_counts_down_where_someone_watches(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    parts = [compilation.LOOP, compilation.BRIDGE]
    line = compilation.Countdown(parts)
    line.done(compilation.BRIDGE)
    line.tick()
    line.end()
    first, second, rest = screen.getvalue().lstrip("\r").split("\r", 2)
    assert re.fullmatch(r"Compiling, once: 2 to go, about \d+ s left ... ", first)
    assert "1 to go" in second
    assert rest.endswith("s\n")


def test_python_announces_the_wait_too(tmp_path, forebay):
    """A first simulate in a script or a notebook is not silent. All but one kernel are there, so that it is short."""
    forebay("warmup")
    folder = cache_folder()
    shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("*write_sets*"))
    code = "import forebay as fb; fb.simulate(fb.read('table1')); fb.simulate(fb.read('table1'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"FOREBAY_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    first, second = done.stderr.splitlines()
    assert first.startswith("Compiling, once: about")
    assert second.startswith("compiled in")


@pytest.mark.parametrize("name", ["numba", "queue", "forebay", "polars"])
def test_what_lies_in_the_current_folder_is_not_run(name, tmp_path, monkeypatch):
    (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    compilation.compile_parts([compilation.BRIDGE])
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def cores(monkeypatch, tmp_path):
    """Two cores, and a cache folder that nothing was measured in."""
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compilation, "_n_workers", lambda: 2)
    return tmp_path


def test_the_wait_that_is_told_is_near_what_was_measured(cores, capsys):
    """The default eight took 100 s from nothing on two cores, by three kernels and the engine's loop."""
    eight = ("fcfs", "fcfs-easy", "filler", "fcfs-bb", "sjf-bb", "conservative-bb", "bbsched-exact", "plan-best")
    compilation.Countdown(compilation.needed(map(load, eight)))
    told = int(re.search(r"about (\d+) s", capsys.readouterr().err)[1])
    assert 85 < told < 115


def test_a_slow_machine_is_told_what_it_took_before(cores, capsys):
    line = compilation.Countdown([compilation.LOOP])
    line._begun -= 3 * line._usual  # it took three times as long
    line.end()
    again = compilation.Countdown([compilation.LOOP])
    assert again._estimate() == pytest.approx(3 * line._usual, rel=0.02)
    again._begun -= line._usual / 3
    again.end()
    assert compilation.pace() == pytest.approx(1, rel=0.02)  # a third and three times: as usual


@pytest.mark.parametrize("text", ["", "fast", "nan", "-1", "1e300", "[1]"])
def test_a_pace_that_makes_no_sense_does_no_harm(cores, text):
    (cores / "pace").write_text(text)
    assert 0.1 <= compilation.pace() <= 10


def test_what_takes_a_second_tells_nothing_of_the_machine(cores):
    line = compilation.Countdown([compilation.BRIDGE])
    line.end()
    assert not (cores / "pace").exists()


def test_nothing_is_compiled_in_advance_for_a_folder_that_others_can_write_to(forebay, tmp_path, monkeypatch):
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    cache_folder().chmod(0o777)
    code, _, err = forebay("warmup")
    why = "there is no folder for compiled code to which you alone can write"
    assert (code, err) == (2, f"forebay: {why}: name another in FOREBAY_CACHE_DIR\n")
