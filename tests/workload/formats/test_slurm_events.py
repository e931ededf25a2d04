"""Events of the Slurm Simulator: options of sbatch as demands; what is refused, and where; a real site's 5,000 jobs."""

import math

import pytest

import forebay as fb
from forebay.errors import InputError

pytestmark = pytest.mark.small

GIB = 2**30
LINE = "-dt {at} -e submit_batch_job | -sim-walltime {run} --uid={user} -N 2 -n 80 -t 1-00:00:00 -q normal -p main "
LINE += "{more} x.job"


def event(at=10.5, run=60.0, user="ann", more=""):
    return LINE.format(at=at, run=run, user=user, more=more)


@pytest.fixture
def read(tmp_path):
    def made(*lines, name="jobs.events", **how):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return fb.read(tmp_path / name, **how)

    return made


def test_options_become_demands(read):
    w = read(
        event(more="--gres=gpu:1 --gres=gpu:v100:2 --mem=180G --exclusive --constraint=IB"),
        event(11, 5, "bob", "-A phys --cpus-per-task=2 --mem-per-cpu=1G"),
        name="jobs.txt",
    )
    columns = ("submit", "run_time", "walltime", "nodes", "cores", "gpus", "memory", "exclusive")
    assert w.jobs.select(columns).rows() == [
        (0, 60, 86400, 2, 80, 4, 360 * GIB, 1),
        (0.5, 5, 86400, 2, 160, 0, 160 * GIB, 0),
    ]
    assert w.names["user"] == {1: "ann", 2: "bob"}
    assert (w.names["gpu"], w.names["features"], w.names["qos"]) == ({1: "v100"}, {1: "IB"}, {1: "normal"})
    assert (w.epoch, w.platform) == (10.5, None)


def test_jobs_that_do_not_run_and_other_events_are_left_out(read):
    w = read(event(), event(run=0), "-dt 12 -e cancel_job | 7", "# a remark")
    assert (len(w), w.records, w.dropped) == (1, 3, {"run time not positive": 1, "no submission of a job": 1})
    no_limit = read(event().replace("-t 1-00:00:00", ""))
    assert no_limit.jobs["walltime"][0] == math.inf


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("submit a job", "line 2: 'submit a job' is no event"),
        (event().replace("-sim-walltime 60.0", ""), "line 2: no -sim-walltime tells how long the job runs"),
        (event("soon"), "line 2: dt is 'soon'"),
        (event(more="--mem=much"), "line 2: mem is 'much'"),
        (event().replace("-n 80", "-n many"), "line 2: ntasks is 'many'"),
        (event(more="--comment='x"), "line 2: a quote is open"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(read, line, says):
    with pytest.raises(InputError, match=says):
        read(event(), line)
    assert read(event(), line, skip_bad_lines=True).dropped == {"cannot be read": 1}


def test_the_real_sample(data):
    w = fb.read(data / "ub" / "workload_5k.events.gz")
    assert (len(w), w.records, w.dropped) == (4975, 5000, {"run time not positive": 25})
    assert (w.jobs["gpus"] > 0).sum() == 44
    assert set(w.names["queue"].values()) == {"general-compute", "debug"}
