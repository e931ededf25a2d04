"""Folders of saved runs: read back as they were, or refused by the name of the file and what is wrong with it."""

import json

import polars as pl
import pytest

from forebay.core.saved import read_result
from forebay.errors import InputError
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


def test_a_run_is_read(run):
    result = read_result(run)
    assert (len(result.jobs), len(result.log), len(result.links)) == (2, 5, 2)
    assert result.resources == {"nodes": 4, "burst_buffer": 10**13}
    assert result.facts == {"seed": 0, "policy": "fcfs", "notes": ["a note"]}
    (run / "links.csv").unlink()
    assert read_result(run).links.is_empty()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("run.json", "{", "run.json: line 1: is not JSON"),
        ("run.json", b"\xff", "run.json: is not JSON that can be used; write the run anew"),
        ("run.json", "[" * 100_000, "run.json: is not JSON that can be used"),
        ("run.json", '{"resources": ' + "9" * 5000 + "}", "run.json: is not JSON that can be used"),
        ("run.json", document(resources=[]), "run.json: has no resources"),
        *(
            (
                "run.json",
                document(resources={"nodes": amount}),
                f"run.json: resources: nodes is {amount!r}, not a whole",
            )
            for amount in ("4", None, True, 4.5, -1, 2**63, {})
        ),
        ("jobs.parquet", b"PAR1", "cannot be read as a run: jobs.parquet: not Parquet that can be read"),
        ("links.csv", b"", "cannot be read as a run: links.csv: not CSV that can be read; write the run anew"),
        ("links.csv", "link,capacity\na,5\n", "links.csv: has no column bytes (columns: link, capacity)"),
        ("links.csv", "link,capacity,bytes\na,much,5\n", "links.csv: its column capacity does not hold numbers"),
    ],
)
def test_what_is_wrong_is_told_by_file(run, name, content, says):
    (run / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_result(run)
    assert says in str(caught.value)
    assert str(run) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("jobs.parquet", pl.exclude("finish_time"), "jobs.parquet: has no column finish_time"),
        ("jobs.parquet", pl.all().cast(pl.String), "jobs.parquet: its column job_id does not hold numbers"),
        ("log.parquet", pl.exclude("kind"), "log.parquet: has no column kind"),
        (
            "log.parquet",
            [pl.exclude("kind"), pl.lit(1).alias("kind")],
            "log.parquet: its column kind does not hold words",
        ),
    ],
)
def test_tables_without_what_figures_need(run, name, change, says):
    pl.read_parquet(run / name).select(change).write_parquet(run / name)
    with pytest.raises(InputError) as caught:
        read_result(run)
    assert says in str(caught.value)
