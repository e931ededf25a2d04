"""The one-time wait for the compiler: announced, measured, and had in advance if one likes."""

import json
from pathlib import Path

import pytest

from forebay.cli import _compile
from forebay.policies import load


def test_warmup_compiles_and_says_where(forebay):
    code, out, err = forebay("warmup", "--format", "json")
    assert code == 0
    assert "two processes" in err
    document = json.loads(out)
    assert document["seconds"] > 0
    assert any(Path(document["cache"]).rglob("loop.run_compiled-*.nbi"))
    assert document["cache"] in forebay("warmup").out


@pytest.fixture
def imports(monkeypatch):
    done = []
    monkeypatch.setattr(_compile, "import_module", done.append)
    return done


def test_a_cold_cache_is_announced(imports, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    _compile.prepare([load("fcfs-bb")])
    assert imports == ["forebay.engine.loop", "forebay.policies._backfill"]
    first, second = capsys.readouterr().err.splitlines()
    assert first == "Compiling the engine, once (about half a minute) ..."
    assert second.startswith("compiled in ")


def test_plain_policies_need_the_bridge_and_no_backfill(imports, monkeypatch, tmp_path, policies):
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    _compile.prepare([load(f"{policies}:InOrder")])
    assert imports == ["forebay.engine.loop", "forebay.engine.bridge"]


def test_plans_bring_backfilling_with_them_and_limits_change_nothing(imports, monkeypatch, tmp_path):
    monkeypatch.setenv("FOREBAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    monkeypatch.setattr(_compile.subprocess, "Popen", lambda *_: Idle())
    _compile.prepare([load("fcfs-bb"), load("plan-2+limits:user_jobs=1")])
    assert imports == ["forebay.engine.loop", "forebay.policies._plan"]


class Idle:
    """A process that has nothing to do."""

    def wait(self):
        return 0

    def terminate(self):
        return None


def test_a_warm_cache_is_not(forebay, imports, capsys):
    forebay("warmup")
    imports.clear()
    _compile.prepare([load("fcfs-bb")])
    assert imports == []
    assert capsys.readouterr().err == ""


def test_what_needs_backfilling_comes_after_it():
    """In two processes: windows behind the engine, by when the other one has compiled what they begin with."""
    every = [_compile.WINDOW, _compile.CERBERUS, _compile.LOOP, _compile.PREDICTED]
    assert _compile._chains(every) == ([_compile.LOOP, _compile.WINDOW], [_compile.PREDICTED, _compile.CERBERUS])
    assert _compile._chains([_compile.LOOP, _compile.WINDOW]) == ([_compile.LOOP], [_compile.WINDOW])
    assert _compile._chains([_compile.WINDOW]) == ([_compile.WINDOW], [])
