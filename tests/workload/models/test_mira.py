"""Jobs like Mira's, against what is published of them. Bounds are four standard errors wide where it is drawn."""

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.platforms import load
from forebay.workload import models

pytestmark = pytest.mark.small

CLASSES = {"small": (512, 1024), "middle": (2048, 4096), "large": (8192, 49152)}
JOBS = {"small": 4670 / 6337, "middle": 1152 / 6337, "large": 515 / 6337}  # the log of 2020
NODE_HOURS = {"small": 0.237, "middle": 0.161, "large": 0.602}


def made(seed=1, **more):
    return models.generate("mira", seed, **more)


def columns(workload):
    return [workload.jobs[name].to_numpy() for name in ("nodes", "run_time", "walltime", "submit")]


@pytest.mark.parametrize("name", CLASSES)
def test_jobs_and_node_hours_by_size(name):
    nodes, run, _, _ = columns(made(jobs=50_000))
    mine = (nodes >= CLASSES[name][0]) & (nodes <= CLASSES[name][1])
    share = JOBS[name]
    assert mine.mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 50_000))
    area = nodes * run
    error = np.sqrt(((mine * area - NODE_HOURS[name] * area) ** 2).sum()) / area.sum()
    # What is drawn may miss the published share by its error, and by a point that the round weights leave.
    assert area[mine].sum() / area.sum() == pytest.approx(NODE_HOURS[name], abs=4 * error + 0.01)


def test_queues_have_limits():
    nodes, run, walltime, _ = columns(made(jobs=20_000))
    assert set(nodes) == {512, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 49152}
    assert walltime[nodes < 8192].max() == 12 * 3600
    assert walltime.max() == 24 * 3600
    assert (run >= 60).all()
    assert (run <= walltime).all()


@pytest.mark.parametrize("accuracy", [0.3, 0.6, 1.0])
def test_walltimes_are_above_run_times(accuracy):
    _, run, walltime, _ = columns(made(jobs=20_000, accuracy=accuracy))
    share = run / walltime
    assert share.mean() == pytest.approx(accuracy, abs=4 * share.std() / np.sqrt(20_000) + 1e-3)


@pytest.mark.parametrize("load_", [0.5, 0.86, 1.2])
def test_the_load_is_what_was_asked_for(load_):
    nodes, run, _, submit = columns(made(jobs=500, load=load_))
    assert submit.min() == 0
    assert (nodes * run).sum() / (49152 * submit.max()) == pytest.approx(load_, rel=1e-4)


def test_the_largest_jobs_may_leave_some_nodes():
    whole, some = (columns(made(jobs=20_000, largest=largest))[0] for largest in (49152, 48640))
    assert (some == np.where(whole == 49152, 48640, whole)).all()
    assert some.max() == 48640


@pytest.mark.parametrize("jobs", [1, 2])
def test_few_jobs(jobs):
    assert len(made(jobs=jobs)) == jobs


def test_its_machine():
    workload = made(jobs=10)
    assert load(workload.platform).nodes == 49152
    assert made(jobs=10).jobs.equals(workload.jobs)
    assert not made(seed=2, jobs=10).jobs.equals(workload.jobs)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"load": 0.0}, "load is 0; give a number above 0"),
        ({"load": 86.0}, "write 0.86 for 86 %"),
        ({"accuracy": 0.0}, "accuracy is 0; give a number above 0"),
        ({"accuracy": 1.5}, "accuracy is 1.5; give a share from 0 to 1"),
        ({"largest": 50_000}, "largest is 50000; give at most nodes, which is 49152"),
        ({"jobs": 0}, "jobs is 0; give a number from 1 up"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        made(**given)
