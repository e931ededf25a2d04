"""jobs.csv loads in evalys, the field's own tool for it (extra `evalys`)."""

import warnings

import pytest

import forebay as fb
from forebay.cli.main import main

evalys = pytest.importorskip("evalys.jobset", reason="install forebay[evalys] to check that jobs.csv loads in evalys")

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]


def test_jobs_csv_loads_in_evalys(tmp_path):
    with pytest.raises(SystemExit) as left:
        main(["run", "default", "--policy", "fcfs-bb", "-o", str(tmp_path)])
    assert left.value.code in (0, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jobs = evalys.JobSet.from_csv(str(tmp_path / "jobs.csv"))
    ours = fb.simulate(fb.read("default"), policy="fcfs-bb").jobs
    assert len(jobs.df) == len(ours)
    assert jobs.df["waiting_time"].mean() == pytest.approx(ours["waiting_time"].mean())
    first = next(iter(jobs.df["allocated_resources"]))
    assert len(first) == ours["requested_number_of_resources"][0]
