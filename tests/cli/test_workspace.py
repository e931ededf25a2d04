"""A folder holds one comparison, whole: whatever was there before, and whenever it is stopped."""

import json
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from forebay.errors import InputError
from forebay.experiments.comparison.workspace import MANIFEST, UNFINISHED, Part, workspace

PARTS = {"a": Part("a", "1"), "b": Part("b", "1")}


def contents(folder):
    """Every file by its name, with its text."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def fill(made, policy, text="x"):
    made.place(policy).mkdir()
    for name in ("jobs.csv", "run.json"):
        (made.place(policy) / name).write_text(text)


def make(folder, setting, parts, text):
    """A whole comparison."""
    with workspace(folder, setting, parts) as made:
        for policy in parts:
            fill(made, policy, text)
        (made.path / "compare.csv").write_text(text)
        made.publish()


@contextmanager
def stopped(*arguments):
    """A comparison that is stopped at the end of the block."""
    with suppress(KeyboardInterrupt), workspace(*arguments) as made:
        yield made
        raise KeyboardInterrupt


def of(parts, text):
    """The files of a whole comparison, without the manifest."""
    return {"compare.csv": text} | {f"{name}/{file}": text for name in parts for file in ("jobs.csv", "run.json")}


@pytest.mark.small
def test_a_new_one_takes_the_place_of_the_old_and_nothing_else(tmp_path):
    make(tmp_path, "old", PARTS, "old")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "a" / "mine.txt").write_text("mine")
    make(tmp_path, "new", {"b": PARTS["b"], "c": Part("c", "1")}, "new")
    found = contents(tmp_path)
    assert json.loads(found.pop(MANIFEST))["finished"]
    assert found == of("bc", "new") | {"mine.txt": "mine", "a/mine.txt": "mine"}


@pytest.mark.small
@pytest.mark.parametrize("call", range(13))
@pytest.mark.parametrize("verb", ["replace", "unlink"])
def test_stopped_while_files_take_their_places_it_is_ended_by_the_next(tmp_path, monkeypatch, verb, call):
    """As by a machine that goes down: between any two files."""
    make(tmp_path, "old", PARTS, "old")
    calls, done = [], getattr(Path, verb)

    def fail(self, *arguments, **options):
        calls.append(self)
        if len(calls) == call + 1:
            raise SystemError
        return done(self, *arguments, **options)

    new = {"b": PARTS["b"], "c": Part("c", "1")}
    with workspace(tmp_path, "new", new) as made:
        for policy in new:
            fill(made, policy, "new")
        (made.path / "compare.csv").write_text("new")
        with monkeypatch.context() as patched:
            patched.setattr(Path, verb, fail)
            try:
                made.publish()
            except SystemError:
                assert (tmp_path / UNFINISHED).exists()
    with stopped(tmp_path, "third", PARTS):
        pass
    found = contents(tmp_path)
    found.pop(MANIFEST)
    assert found in (of("bc", "new"), of("ab", "old") if call == 0 and verb == "replace" else None)


@pytest.mark.small
def test_a_stopped_one_leaves_the_old_as_it_was_and_is_gone_on_with(tmp_path):
    make(tmp_path, "old", PARTS, "old")
    before = contents(tmp_path)
    with stopped(tmp_path, "new", PARTS) as made:
        fill(made, "a", "new")
        made.place("b").mkdir()
        (made.place("b") / ".jobs.csv.77.tmp").write_text("half")
        (made.path / "waits.svg").write_text("of an unfinished one")
    assert before.items() <= contents(tmp_path).items()
    assert not made.place("b").exists()
    with workspace(tmp_path, "new", PARTS) as made:
        assert made.finished() == ["a"]
        assert not (made.path / "waits.svg").exists()
        fill(made, "b", "new")
        (made.path / "compare.csv").write_text("new")
        made.publish()
    found = contents(tmp_path)
    found.pop(MANIFEST)
    assert found == of("ab", "new")


@pytest.mark.small
@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("other", PARTS),
        ("same", {"a": Part("a", "2"), "b": PARTS["b"]}),
        ("same", {"a": Part("a~2", "1"), "b": PARTS["b"]}),
        ("same", {"c": Part("a", "1")}),
    ],
)
def test_what_has_changed_is_made_again(tmp_path, setting, parts):
    with stopped(tmp_path, "same", PARTS) as made:
        fill(made, "a")
    with workspace(tmp_path, setting, parts) as made:
        assert made.finished() == []
        assert sorted(path.name for path in made.path.iterdir()) == [".lock", MANIFEST]
    assert not made.path.exists()


@pytest.mark.small
def test_one_at_a_time(tmp_path):
    with (
        workspace(tmp_path, "one", PARTS),
        pytest.raises(InputError, match="another comparison is being made"),
        workspace(tmp_path, "two", PARTS),
    ):
        pass


@pytest.mark.small
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (MANIFEST, '{"name": "a thing of mine"}'),
        (MANIFEST, "[1"),
        (MANIFEST, '{"format": 1, "files": ["../precious.txt"]}'),
        (MANIFEST, '{"format": 1, "files": ["/precious.txt"]}'),
        (f"{UNFINISHED}/thesis.txt", "a thing of mine"),
        ("a", "a thing of mine"),
    ],
)
def test_what_is_not_ours_is_refused_and_stays(tmp_path, name, text):
    folder = tmp_path / "r"
    (tmp_path / "precious.txt").write_text("mine")
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="r/"), workspace(folder, "one", PARTS):
        pass
    assert contents(tmp_path) == before


def test_figures_of_one_workload_never_stand_beside_the_table_of_another(forebay, tmp_path):
    out = tmp_path / "out"
    assert forebay("compare", "table1", "--policies", "fcfs,filler", "-o", out).code == 0
    assert forebay("plot", out / "fcfs", out / "filler", "--figure", "gantt", "-o", out).code == 0
    assert (out / "gantt-fcfs.svg").exists()
    again = ("compare", "table1", "--platform", "flat:nodes=8", "--policies", "fcfs-easy", "--no-plots", "-o", out)
    assert forebay(*again).code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "bounds.csv",
        "compare.csv",
        MANIFEST,
        "fcfs-easy",
        "ranking.csv",
        "report.html",
    ]


def test_stopped_before_its_figures_it_simulates_nothing_again(forebay, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    command = ("compare", "table1", "--policies", "fcfs,filler", "-o", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr("forebay.figures._folder.draw", stop)
        assert forebay(*command).code == 130
    assert [path.name for path in (tmp_path / "out").iterdir()] == [UNFINISHED]
    monkeypatch.setattr("forebay.experiments.execution.parallel.perform", stop)
    code, said, err = forebay(*command)
    assert code == 0
    assert err == "2 of 2 policies there already\n"
    assert "\nfiller " in said
    assert not (tmp_path / "out" / UNFINISHED).exists()


@pytest.mark.parametrize(
    "change",
    [
        ["--seed", "1"],
        ["--window", "0:61"],
        ["--platform", "flat:nodes=4"],
        ["--platform", "flat:nodes=4,burst_buffer=9TB"],
        ["--job-model", "alloc-only:kill=false"],
    ],
)
def test_another_setting_starts_over(forebay, tmp_path, monkeypatch, change):
    def stop(*_):
        raise KeyboardInterrupt

    command = ("compare", "table1", "--policies", "fcfs,filler", "-o", tmp_path / "out")
    if change[0] == "--platform":
        command = (*command, "--platform", "flat:nodes=4,burst_buffer=10TB")
    monkeypatch.setattr("forebay.figures._folder.draw", stop)
    assert forebay(*command).code == 130
    assert "there already" in forebay(*command).err
    assert "there already" not in forebay(*command, *change).err


def test_a_policy_that_was_edited_is_simulated_again(forebay, policies, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    command = ("compare", "table1", "--policies", f"fcfs,{policies}:InOrder", "-o", tmp_path / "out")
    monkeypatch.setattr("forebay.figures._folder.draw", stop)
    assert forebay(*command).code == 130
    policies.write_text(policies.read_text() + "\n# other text\n")
    assert "1 of 2 policies there already" in forebay(*command).err


def test_a_run_and_a_comparison_do_not_share_a_folder(forebay, tmp_path):
    out = tmp_path / "out"
    compare, run = ("compare", "table1", "--policies", "fcfs", "--no-plots"), ("run", "table1")
    for first, second, kind in ((compare, run, "a comparison"), (run, compare, "a run")):
        assert forebay(*first, "-o", out / kind).code == 0
        before = contents(out)
        code, _, err = forebay(*second, "-o", out / kind)
        assert code == 2
        assert f"holds {kind}" in err
        assert contents(out) == before


def test_figures_of_a_run_go_when_it_does(forebay, tmp_path):
    run = ("run", "table1", "-o", tmp_path, "--policy")
    forebay(*run, "fcfs")
    before = sorted(contents(tmp_path))
    forebay("plot", tmp_path, "-o", tmp_path)
    (tmp_path / "mine.svg").write_text("mine")
    assert (tmp_path / "waits.svg").exists()
    forebay(*run, "filler")
    assert sorted(contents(tmp_path)) == sorted([*before, "mine.svg"])


@pytest.mark.parametrize("command", [["run", "table1"], ["compare", "table1", "--policies", "fcfs"]])
def test_a_list_of_figures_that_is_none_is_refused_at_once(forebay, tmp_path, command):
    (tmp_path / "figures.json").write_text("[1]")
    code, _, err = forebay(*command, "-o", tmp_path)
    assert code == 2
    assert "figures.json" in err
    assert contents(tmp_path) == {"figures.json": "[1]"}
