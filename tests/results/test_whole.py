"""A folder that was tampered with is distinguished from a bug: by the file that is not as it was written."""

import json

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.results._whole import _digest, changed, reading


@pytest.fixture
def run(tmp_path):
    """The folder of a run."""
    fb.simulate("table1", policy="fcfs").save(tmp_path / "run")
    return tmp_path / "run"


def edit(folder, **changes):
    known = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(known | changes))


def test_a_folder_as_it_was_written_is_whole(run):
    assert changed(run) == ""
    edit(run)  # laid out in another way, it tells the same
    assert changed(run) == ""
    (run / "jobs.csv").unlink()  # for other tools: nothing here reads it
    assert changed(run) == ""


@pytest.mark.parametrize("name", ["jobs.parquet", "log.parquet", "placements.parquet"])
def test_a_file_that_is_changed_or_gone_is_named(run, name):
    whole = (run / name).read_bytes()
    (run / name).write_bytes(whole + b"x")
    assert changed(run) == name
    (run / name).unlink()
    assert changed(run) == name


def test_so_is_the_document(run):
    edit(run, policy="another")
    assert changed(run) == "run.json"


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_so_is_a_number_in_it_that_is_not_finite(run, number):
    """We write null in its place, so a digest alone does not tell the two apart."""
    path, facts = run / "run.json", {"policy": "fcfs", "window": None}
    facts["sha256"] = {"run.json": _digest(facts)}
    path.write_text(json.dumps(facts))
    assert changed(run) == ""
    path.write_text(json.dumps(facts).replace("null", number))
    assert changed(run) == "run.json"


def test_so_is_another_kind_of_document(run):
    (run / "run.json").write_text("[]")
    assert changed(run) == "run.json"


def test_what_fails_on_a_changed_folder_is_no_bug(run):
    with pytest.raises(ZeroDivisionError), reading(run):
        raise ZeroDivisionError
    edit(run, jobs=-1)
    with pytest.raises(InputError, match=r"run\.json: it is damaged, or was changed after the run"), reading(run):
        raise ZeroDivisionError
    with pytest.raises(InputError, match="was changed after the run"), reading(run):
        raise MemoryError  # it may tell of a machine of a billion nodes
    with pytest.raises(InputError, match="as it is"), reading(run):
        raise InputError("as it is")


@pytest.mark.parametrize("key", ["classes", "partitions"])
def test_commands_refuse_what_they_cannot_use(run, key, tmp_path):
    known = json.loads((run / "run.json").read_text())
    edit(run, platform=known["platform"] | {key: [{"name": "x", "cores": "many"}]})
    with pytest.raises(InputError, match=r"run\.json: it is damaged"), reading(run):
        fb.explain.reasons(fb.load(run))
    with pytest.raises(InputError, match=r"run\.json: it is damaged"):
        fb.report.write(run)
