"""Folders of saved runs: read back as they were, or refused by the name of the file and what is wrong with it."""

import json
import math

import polars as pl
import pytest

from forebay.errors import InputError
from forebay.results import load, read_document
from fuzz import seeds

pytestmark = pytest.mark.small


@pytest.fixture
def run(tmp_path):
    """The folder of a run."""
    for name, data in seeds.run_folder().items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def document(**changes):
    return json.dumps(json.loads(seeds.run_folder()["run.json"]) | changes)


def _without(name, row):
    """A column without its value in a row."""
    return pl.when(pl.int_range(pl.len()) == row).then(None).otherwise(name).alias(name)


def test_a_run_is_read(run):
    result = load(run)
    assert (len(result.jobs), len(result.log), len(result.links)) == (2, 5, 2)
    assert result.resources == {"nodes": 4, "burst_buffer": 10**13}
    assert result.facts == {"seed": 0, "policy": "fcfs", "notes": ["a note"]}
    assert load(str(run)).facts == result.facts


def test_numbers_of_earlier_versions_have_the_names_of_this_one(run):
    """Waits that end at the first start replace missing headline waits; those that a folder has stay."""
    old = {"mean_waiting_time": 5.0, "p50_waiting_time": 4.0, "lost_to_stealing_share": 0.1}
    (run / "run.json").write_text(document(summary=old))
    found = read_document(run)["summary"]
    assert (found["mean_wait"], found["median_wait"], found["lost_to_policy_share"]) == (5.0, 4.0, 0.1)
    (run / "run.json").write_text(document(summary=old | {"mean_wait": 7.0}))
    assert read_document(run)["summary"]["mean_wait"] == 7.0


def test_a_table_that_the_run_has_not_is_empty(run):
    (run / "run.json").write_text(document(tables={"jobs": 2, "log": 5}))
    assert load(run).links.columns == ["link", "capacity", "bytes"]
    assert load(run).links.is_empty()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("run.json", "{", "run.json: line 1: is not JSON"),
        ("run.json", b"\xff", "run.json: is not JSON that can be used; write the run again"),
        ("run.json", "[" * 100_000, "run.json: is not JSON that can be used"),
        ("run.json", '{"resources": ' + "9" * 5000 + "}", "run.json: is not JSON that can be used"),
        ("run.json", "[]", "run.json: does not say its format: not of this version of forebay; write the run again"),
        ("run.json", "{}", "run.json: does not say its format"),
        (
            "run.json",
            document(format=2, versions={"forebay": "9.1"}),
            "run.json: has format 2, written by forebay '9.1'; this version reads 1; write the run again",
        ),
        ("run.json", document(format="1", versions=[]), "run.json: has format '1'; this version reads 1"),
        ("run.json", document(resources=[]), "run.json: has no resources"),
        ("run.json", document(tables=None), "run.json: has no tables"),
        ("run.json", document(tables={"jobs": -1}), "run.json: tables: jobs is -1, not a whole number"),
        ("run.json", document(summary={}), "run.json: its summary is empty; write the run again"),
        ("run.json", document(summary=[1]), "run.json: summary is [1], not a dictionary"),
        ("run.json", document(summary={"mean_wait": "long"}), "summary: mean_wait is 'long', not a number"),
        ("run.json", document(summary={"mean_wait": math.nan}), "summary: mean_wait is nan, not a number"),
        ("run.json", document(summary={"mean_wait": math.inf}), "summary: mean_wait is inf, not a number"),
        ("run.json", document(summary={"mean_wait": 10**400}), "summary: mean_wait is 1000"),
        ("run.json", document(facts=3), "run.json: facts is 3, not a dictionary"),
        (
            "run.json",
            document(tables={"jobs": 2, "log": 5, "links": 3}),
            "links.csv: has 2 rows where run.json says 3: cut off, or of another run",
        ),
        ("run.json", document(tables={"links": 2}), "jobs.parquet: has 2 rows where run.json says 0"),
        *(
            (
                "run.json",
                document(resources={"nodes": amount}),
                f"run.json: resources: nodes is {amount!r}, not a whole",
            )
            for amount in ("4", None, True, 4.5, -1, 2**63, {})
        ),
        ("jobs.parquet", b"PAR1", "cannot be read as a run: jobs.parquet: not Parquet that can be read"),
        ("jobs.parquet", seeds.run_folder()["jobs.parquet"][:-9], "jobs.parquet: not Parquet that can be read"),
        ("links.csv", "link,capacity,bytes\na,5,5\n", "links.csv: has 1 row where run.json says 2: cut off"),
        ("links.csv", b"", "cannot be read as a run: links.csv: not CSV that can be read; write the run again"),
        ("links.csv", "link,capacity\na,5\n", "links.csv: has no column bytes (columns: link, capacity)"),
        ("links.csv", "link,capacity,bytes\na,much,5\n", "links.csv: its column capacity does not hold numbers"),
    ],
)
def test_what_is_wrong_is_told_by_file(run, name, content, says):
    (run / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        load(run)
    assert says in str(caught.value)
    assert str(run) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("jobs.parquet", pl.exclude("finish_time"), "jobs.parquet: has no column finish_time"),
        (
            "jobs.parquet",
            pl.all().cast(pl.String),
            "jobs.parquet: its column job_id does not hold whole numbers; write the run again",
        ),
        (
            "jobs.parquet",
            [pl.exclude("finish_time"), pl.lit("1").alias("finish_time")],
            "jobs.parquet: its column finish_time does not hold numbers",
        ),
        ("jobs.parquet", [pl.exclude("success"), pl.lit(True).alias("success")], "column success does not hold whole"),
        (
            "jobs.parquet",
            [pl.exclude("waiting_time"), pl.lit(1).cast(pl.Decimal(9, 2)).alias("waiting_time")],
            "its column waiting_time does not hold numbers",
        ),
        *(
            (
                "log.parquet",
                [pl.exclude(name), pl.col(name).cast(pl.Float64)],
                f"log.parquet: its column {name} does not hold whole numbers; write the run again",
            )
            for name in ("job", "leg", "amount")
        ),
        ("log.parquet", pl.exclude("kind"), "log.parquet: has no column kind"),
        (
            "log.parquet",
            [pl.exclude("kind"), pl.lit(1).alias("kind")],
            "log.parquet: its column kind does not hold words",
        ),
        *(
            (file, _without(name, 1), f"{file}: its column {name} has no value in row 2; write the run again")
            for file, names in (
                ("jobs.parquet", ("job_id", "submission_time", "requested_number_of_resources", "final_state")),
                ("log.parquet", ("time", "kind", "leg", "amount", "reason")),
            )
            for name in names
        ),
        (
            "log.parquet",
            pl.when(pl.col("amount") > 0).then(float("nan")).otherwise("time").alias("time"),
            "log.parquet: its column time has no value in row 2; write the run again",
        ),
    ],
)
def test_tables_without_what_figures_need(run, name, change, says):
    kept = pl.read_parquet(run / name)
    frame = kept.select(change)
    (frame if len(frame.columns) > 1 else kept.with_columns(frame)).write_parquet(run / name)
    with pytest.raises(InputError) as caught:
        load(run)
    assert says in str(caught.value)


def test_jobs_that_never_began_have_no_times_and_nodes_no_job(run):
    """What every run may lack is not asked for."""
    log = pl.read_parquet(run / "log.parquet")
    log.with_columns(job=None, resource=None).cast({"job": pl.Int64, "resource": pl.String}).write_parquet(
        run / "log.parquet"
    )
    assert load(run).jobs["starting_time"].null_count() == 1
    assert load(run).log["job"].null_count() == 5


@pytest.mark.parametrize("name", ["run.json", "jobs.parquet", "log.parquet", "links.csv"])
def test_a_file_that_is_missing(run, name):
    (run / name).unlink()
    with pytest.raises(InputError, match=f"{name} missing; write the run again"):
        load(run)


def test_what_is_no_run(tmp_path):
    (tmp_path / "file").write_text("x")
    study = tmp_path / "study"
    (study / "runs").mkdir(parents=True)
    (study / "manifest.json").write_text("{}")
    for name, file in (("sweep", "sweep.json"), ("done", "study.json")):
        (tmp_path / name / "runs").mkdir(parents=True)
        for one in ("manifest.json", file):
            (tmp_path / name / one).write_text("{}")
    (tmp_path / "both" / "a").mkdir(parents=True)
    (tmp_path / "both" / "a" / "run.json").write_text("{}")
    for name, says in (
        ("nowhere", "nowhere: no such folder; name a folder that"),
        ("file", "file: is a file; name a folder that"),
        ("study", "is not the folder of a run; it is that of an unfinished sweep or study"),
        ("done", "is not the folder of a run; it is a study's, which keeps only the numbers of its runs"),
        (
            "sweep",
            "is not the folder of a run; it is a sweep's, .* sweep.csv and report.html in it; to draw a single run",
        ),
        ("both", "is not the folder of a run; the runs in it are a"),
        ("both/..", "is not the folder of a run; forebay run -o DIR, or result.save"),
    ):
        with pytest.raises(InputError, match=says):
            load(tmp_path / name)
