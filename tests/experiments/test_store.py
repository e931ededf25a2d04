"""Runs come back bit by bit; what another version made, or what is damaged, is refused with a way out."""

import json
import math

import numpy as np
import polars as pl
import pytest

from forebay.errors import InputError
from forebay.experiments import store as module
from forebay.experiments.runs import Jobs, Run
from forebay.experiments.store import Store, code_hash
from forebay.experiments.tidy import same_under_each_seed
from forebay.results import Record

pytestmark = pytest.mark.small

RUN = Run("a", Jobs("table1"), "table1", "fcfs", "alloc-only", keep=("waiting_time",))
RECORD = Record(
    {"key": RUN.key, "summary": {"mean": 0.1 + 0.2, "none": None, "count": 3}},
    {"waiting_time": np.array([1 / 3, 0.0])},
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "study")


def test_numbers_come_back_as_they_were(store):
    assert RUN not in store
    store.save(RUN, RECORD)
    assert RUN in store
    again = Store(store.folder).load(RUN)
    assert again.summary == RECORD.summary
    assert again.measures["waiting_time"].tolist() == [1 / 3, 0.0]
    names = sorted(path.name for path in store.runs.iterdir())
    assert names == [f"{RUN.key}.json", f"{RUN.key}.parquet"]


def test_what_is_not_finite_is_null(store):
    store.save(RUN, Record({"key": RUN.key, "summary": {"x": math.inf, "y": math.nan}}, RECORD.measures))
    assert store.load(RUN).summary == {"x": None, "y": None}


@pytest.mark.parametrize(("key", "says"), [("forebay", "made by forebay 0.0.1,"), ("code", "with other code")])
def test_runs_of_another_version_are_refused(store, key, says):
    store.save(RUN, RECORD)
    manifest = store.folder / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(told | {key: "0.0.1"}))
    with pytest.raises(InputError, match=f"{says}.* --fresh"):
        Store(store.folder)
    (store.folder / "mine.txt").write_text("keep")
    (store.runs / "mine.json").write_text("keep")
    fresh = Store(store.folder, fresh=True)
    assert RUN not in fresh
    assert json.loads(manifest.read_text()) == told
    assert {path.name for path in store.folder.rglob("mine.*")} == {"mine.txt", "mine.json"}


def test_a_store_without_a_manifest_is_not_trusted(store):
    store.save(RUN, RECORD)
    (store.folder / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"no manifest\.json"):
        Store(store.folder)


@pytest.mark.parametrize("text", ["", "[]", '{"a": '])
def test_a_damaged_manifest(store, text):
    (store.folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read.*--fresh"):
        Store(store.folder)


@pytest.mark.parametrize("text", ["", "{}", '{"key": "other", "summary": {}}', "[1]"])
def test_a_damaged_run(store, text):
    store.save(RUN, RECORD)
    (store.runs / f"{RUN.key}.json").write_text(text)
    with pytest.raises(InputError, match="remove the file"):
        store.load(RUN)


@pytest.mark.parametrize(
    ("summary", "says"),
    [
        ({}, "its summary is empty"),
        ([], "summary is [], not a dictionary"),
        ({"mean_wait": [3]}, "summary: mean_wait is [3], not a number"),
        ({"\ud800": 3}, r"summary: '\ud800' cannot name a number"),  # half a character: no table takes it
    ],
)
def test_a_run_whose_summary_was_changed(store, summary, says):
    store.save(RUN, Record({"key": RUN.key, "summary": summary}, RECORD.measures))
    with pytest.raises(InputError) as caught:
        store.load(RUN)
    assert str(caught.value) == f"{store.runs / RUN.key}.json: {says}; remove the file, and the run is made again"


def test_a_run_whose_facts_were_changed(store):
    """They are a dictionary, of which nothing need be there."""
    store.save(RUN, Record({"key": RUN.key, "summary": {"mean_wait": 1.0}, "facts": 2.5}))
    with pytest.raises(InputError, match="not a run that can be read; remove the file"):
        store.load(RUN)
    record = Record({"key": RUN.key, "summary": {"mean_wait": 1.0}, "facts": {}})
    assert not same_under_each_seed([(RUN, record)])


@pytest.mark.parametrize(
    "measures",
    [{"other": np.array([1.0])}, {"waiting_time": np.array(["long"])}, {"waiting_time": pl.Series([1.0, None])}],
)
def test_a_run_whose_measures_were_changed(store, measures):
    store.save(RUN, Record(RECORD.document, measures))
    with pytest.raises(InputError, match=rf"{RUN.key}\.parquet: has no numbers waiting_time of all jobs; remove"):
        store.load(RUN)


@pytest.mark.parametrize("content", [b"", None])
def test_a_run_without_its_measures(store, content):
    store.save(RUN, RECORD)
    path = store.runs / f"{RUN.key}.parquet"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=rf"parquet: not Parquet that can be read; remove {RUN.key}\.json beside it"):
        store.load(RUN)


def test_a_failed_write_leaves_nothing(store, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("forebay.results._records.as_json", fail)
    with pytest.raises(InputError, match="No space left"):
        store.save(RUN, RECORD)
    assert RUN not in store
    assert not [path for path in store.runs.iterdir() if path.suffix != ".parquet"]


def test_the_hash_covers_all_that_can_change_results(tmp_path, monkeypatch):
    found = code_hash()
    root = tmp_path / "forebay"
    for name in ("_numba", "core", "algorithms", "workload", "platforms", "engine", "policies", "metrics", "figures"):
        (root / name).mkdir(parents=True)
        (root / name / "a.py").write_text("1")
    for name in ("_run/simulate.py", "_new.py", *(f"experiments/{one}.py" for one in ("files", "generators", "runs"))):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("1")
    monkeypatch.setattr(module, "_ROOT", root)
    seen = {found}
    for path in sorted(root.rglob("*.py")):
        code_hash.cache_clear()
        before = code_hash()
        path.write_text("2")
        code_hash.cache_clear()
        assert (code_hash() != before) == ("figures" not in path.parts), path
        seen.add(code_hash())
    code_hash.cache_clear()
    monkeypatch.undo()
    assert code_hash() == found
    assert len(seen) == 14
