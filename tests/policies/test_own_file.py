"""Policies in users' own files: with modules beside them, edited while a process goes on, and never run stale."""

import json
import os
import subprocess
import sys

import numba
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.policies import digest_of, load

KERNEL = """
import forebay as fb
from forebay.core.verbs import act_start
from helper import allowed
import constants


@fb.policy_kernel
def few_at_a_time(state, params, memory, rng):
    counts = state.counts[0]
    if counts["n_running"] < min(allowed(), constants.MOST) and counts["n_queued"] > 0:
        i = counts["queue_first"]
        while state.queue[i] < 0:
            i += 1
        act_start(state, state.queue[i], 0)


class Mine(fb.Policy):
    def kernel(self):
        return few_at_a_time
"""
HELPER = """
import numba
LIMIT = {limit}
@numba.njit
def allowed():
    return LIMIT
"""
RUN = """
import json, sys
import forebay as fb
result = fb.simulate(fb.read("table1"), "flat:nodes=64,burst_buffer=100TB", sys.argv[1])
print(json.dumps(result.jobs["starting_time"].to_list()))
"""


def starts(spec):
    done = subprocess.run([sys.executable, "-c", RUN, spec], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(folder, limit=1, most=9):
    (folder / "mine.py").write_text(KERNEL)
    (folder / "helper.py").write_text(HELPER.format(limit=limit))
    (folder / "constants.py").write_text(f"MOST = {most}\n")
    return f"{folder / 'mine.py'}:Mine"


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="with the compiler off there is no cache")
def test_an_edited_helper_or_constant_is_never_stale(tmp_path):
    """In a new process each time, as with the command. Where two may run at a time, jobs start earlier."""
    spec = write(tmp_path)
    alone = starts(spec)
    write(tmp_path, limit=2)
    assert max(starts(spec)) < max(alone)
    write(tmp_path, limit=2, most=1)
    assert starts(spec) == alone


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="with the compiler off there is no cache")
def test_the_same_class_by_its_file_and_by_import(tmp_path):
    """In processes of their own, and in one."""
    spec = write(tmp_path)
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from mine import Mine; import forebay as fb\n" + (
        "print(fb.simulate(fb.read('table1'), policy=Mine()).facts['log_sha256'] == "
        f"fb.simulate(fb.read('table1'), policy={spec!r}).facts['log_sha256'])"
    )
    starts(spec)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True"], done.stderr


PLAIN = """
from helper import SHORT

class Mine:
    def decide(self, view, act):
        for job in view.queue:
            if view.walltime(job) <= SHORT and act.fits(job):
                act.start(job)
"""


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "mine.py").write_text(PLAIN)
    (tmp_path / "helper.py").write_text("from pack.deep import SHORT\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "deep.py").write_text("SHORT = 1e9\n")
    yield tmp_path
    for name in ("helper", "pack", "pack.deep"):
        sys.modules.pop(name, None)
    sys.path.remove(str(tmp_path))


@pytest.mark.small
def test_an_edited_helper_counts_in_a_process_that_goes_on(plain):
    """As in a notebook; two imports below the file."""
    spec = f"{plain / 'mine.py'}:Mine"
    before = digest_of(spec)
    fb.simulate(fb.read("table1"), policy=spec)
    (plain / "pack" / "deep.py").write_text("SHORT = 0.0\n")
    os.utime(plain / "pack" / "deep.py", (1, 1))
    assert digest_of(spec) != before
    with pytest.raises(fb.ForebayError, match="nothing runs and nothing will arrive"):
        fb.simulate(fb.read("table1"), policy=spec)


@pytest.mark.small
def test_a_digest_is_of_the_users_own_modules(plain):
    """Neither of packages that are installed nor of what lies beside and is not imported."""
    spec = f"{plain / 'mine.py'}:Mine"
    before = digest_of(spec)
    (plain / "other.py").write_text("1")
    assert digest_of(spec) == before
    (plain / "mine.py").write_text("import numpy, json\n" + PLAIN)
    load(spec)
    changed = digest_of(spec)
    assert changed != before
    assert digest_of("fcfs") == ""


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit()", "SystemExit"),
        ("raise BaseException('x')", "BaseException: x"),
        ("class Mine:\n    def __init__(self): raise SystemExit", "cannot be made: SystemExit"),
        ("class Mine:\n    def __init__(self): 1 // 0", "cannot be made: ZeroDivisionError"),
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(text, words, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        load(f"{path}:Mine")


def test_a_link_may_lead_to_a_file_of_another_name(tmp_path):
    (tmp_path / "source").write_text("class Mine:\n    def decide(self, view, act): pass\n")
    (tmp_path / "mine.py").symlink_to(tmp_path / "source")
    assert type(load(f"{tmp_path / 'mine.py'}:Mine")).__name__ == "Mine"
    (tmp_path / "source").write_text("no Python")
    with pytest.raises(InputError, match="cannot be imported: SyntaxError"):
        load(f"{tmp_path / 'mine.py'}:Mine")


@pytest.mark.small
def test_files_that_import_helpers_of_the_same_name_keep_their_own(tmp_path, monkeypatch):
    """Imported at the top and inside `decide`, in turn, and where a third module of that name lies on the path."""
    specs = {}
    for name in ("a", "b", "elsewhere"):
        (folder := tmp_path / name).mkdir()
        (folder / "helper.py").write_text(f"NAME = {name!r}\n")
        (folder / "late.py").write_text(f"NAME = {name!r}\n")
        (folder / "numpy.py").write_text("raise ImportError('not the one that is installed')\n")
        (folder / "mine.py").write_text(
            "import numpy\nimport helper\n\nclass Mine:\n    seen = []\n    def decide(self, view, act):\n"
            "        import late\n        self.seen += [helper.NAME, late.NAME]\n"
            "        [act.start(job) for job in view.queue if act.fits(job)]\n"
        )
        specs[name] = f"{folder / 'mine.py'}:Mine"
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    for _ in range(2):
        for name in ("a", "b"):
            fb.simulate(fb.read("table1"), policy=specs[name])
            assert set(type(load(specs[name])).seen) == {name}


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def decide(self, view): pass", r"takes \(self, view\)"),
        ("def decide(view, act): pass", r"takes \(view, act\)"),
        ("def decide(self, view, act, *, patience): pass", r"takes \(self, view, act, \*, patience\)"),
        ("def decide(self, view, act): yield", "is a generator"),
        ("async def decide(self, view, act): pass", "is asynchronous"),
    ],
)
def test_a_decide_that_cannot_be_called_is_refused_with_what_to_write(text, words, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(f"class Mine:\n    {text}\n")
    with pytest.raises(InputError, match=rf"mine.py, line 2: Mine.decide {words}.*write def decide\(self, view, act\)"):
        load(f"{path}:Mine")
    (tmp_path / "fine.py").write_text("class Mine:\n    def decide(self, view, act, patience=3): pass\n")
    load(f"{tmp_path / 'fine.py'}:Mine")
