"""Two workloads of 200 jobs that ElastiSim has run, under the policy that has the rule of its algorithm.

Jobs contend for the file system, and small differences grow: a bandwidth off in its last binary digits moves ends by
seconds. ElastiSim's times have six digits.
"""

import csv

import pytest

import forebay as fb
from forebay.elastisim import jobs, platform


@pytest.fixture
def compared(cases):
    """(start, end, start by ElastiSim, end by ElastiSim) of each job."""

    def compared(name):
        folder = cases / "reference"
        machine = platform.read(folder / "platform.xml")
        workload = jobs.read(folder / f"{name}_jobs.json", machine, True, (folder,))
        result = fb.simulate(workload, machine.platform, "fcfs-malleable:when=idle", progress=False)
        with open(folder / f"{name}_job_statistics.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        theirs = {int(row["ID"]): (float(row["Start Time"]), float(row["End Time"])) for row in rows}
        ours = result.jobs.select("job_id", "starting_time", "finish_time").rows()
        assert {job for job, *_ in ours} == set(theirs)
        return [(start, end, *theirs[job]) for job, start, end in ours]

    return compared


def test_rigid_jobs_and_malleable_ones(compared):
    for start, end, their_start, their_end in compared("mixed"):
        assert start == pytest.approx(their_start, abs=0.1)
        assert end == pytest.approx(their_end, abs=0.1)


def test_rigid_jobs(compared):
    for start, end, their_start, their_end in compared("rigid"):
        assert start == pytest.approx(their_start, abs=0.1)
        assert end == pytest.approx(their_end, abs=0.005 * (their_end - their_start))
