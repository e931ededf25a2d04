"""The one-time wait for the compiler: announced, measured, and had in advance if one likes."""

import json
from pathlib import Path

import pytest

from forebay.cli import _compile
from forebay.errors import ForebayError
from forebay.policies import load
from forebay.policies import names as policies_of_ours


def test_warmup_compiles_and_says_where(forebay):
    code, out, err = forebay("warmup", "--format", "json")
    assert code == 0
    assert "two processes" in err
    document = json.loads(out)
    assert document["seconds"] > 0
    assert any(Path(document["cache"]).rglob("loop.run_compiled-*.nbi"))
    assert document["cache"] in forebay("warmup").out


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What is asked of the compiler, with nothing in the cache."""
    done = []
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    monkeypatch.setattr(_compile, "compile_parts", done.extend)
    monkeypatch.setattr(_compile, "load", lambda parts: None)
    return done


def _entered(parts):
    """Without what every run needs."""
    return {function for module, function in parts if "setformat" not in module}


def test_a_cold_cache_is_announced(asked, capsys):
    _compile.prepare([load("fcfs-bb")])
    assert _entered(asked) == {"run_compiled", "backfill"}
    first, second = capsys.readouterr().err.splitlines()
    assert first == "Compiling the engine, once (about half a minute) ..."
    assert second.startswith("compiled in ")


def test_plain_policies_need_the_bridge_and_no_backfill(asked, policies):
    _compile.prepare([load(f"{policies}:InOrder")])
    assert _entered(asked) == {"run_compiled", "call_python"}


def test_plans_need_no_backfill_and_limits_change_nothing(asked):
    """A plan's kernel takes in what it uses of backfilling."""
    _compile.prepare([load("plan-2"), load("plan-2+limits:user_jobs=1")])
    assert _entered(asked) == {"run_compiled", "plan"}


def test_a_warm_cache_is_not(forebay, monkeypatch, capsys):
    forebay("warmup")
    capsys.readouterr()
    monkeypatch.setattr(_compile, "compile_parts", None)
    _compile.prepare([load("fcfs-bb")])
    assert capsys.readouterr().err == ""


def test_every_policy_says_what_it_enters():
    """None is left to compile in the middle of a run."""
    for name in policies_of_ours():
        policy = load(name)
        entered = _entered(_compile.needed([policy])) - {"run_compiled"}
        assert len(entered) == 1, name
        assert ("call_python" in entered) == (policy.kernel() is None), name


def test_what_cannot_be_compiled_is_said():
    with pytest.raises(ForebayError, match="no_such_kernel could not be compiled"):
        _compile.compile_parts([("forebay.engine.loop", "no_such_kernel")])
