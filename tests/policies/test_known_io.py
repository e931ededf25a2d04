"""What policies know of the I/O of ordinary jobs: exact, as users state it, or learned from earlier jobs."""

import dataclasses
import random

import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import BadActionError, InputError
from forebay.workload import job_table
from twins.intensity import Naive

pytestmark = pytest.mark.small

GB = 10**9


def jobs(*rows, phases=(), **columns):
    """Jobs as (submit, nodes, seconds, walltime, user); phases as (job, kind, seconds, bytes); ids from 0 on."""
    names = ("submit", "nodes", "run_time", "walltime", "user")
    table = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    table |= {name: [float(value) for value in table[name]] for name in ("submit", "run_time", "walltime")}
    frame = job_table({"id": range(len(rows)), **table}).with_columns(**{k: pl.Series(v) for k, v in columns.items()})
    told = [(job, 0, kind, float(s), 0.0, 0.0, float(b), None) for job, kind, s, b in phases]
    return fb.Workload("by hand", frame, phases=pl.DataFrame(told, PHASE_SCHEMA, orient="row") if told else None)


class Ask(fb.Policy):
    """In order of arrival; keeps what it knows of each job when it sees it first."""

    def __init__(self, known):
        self.known = known
        self.found = {}

    def decide(self, view, act):
        for job in view.queue.tolist():
            answers = (view.time(job), view.io(job), view.io_bytes(job), view.io_period(job))
            self.found.setdefault(job, answers)
            if act.fits(job):
                act.start(job)


def known(workload, how, machine="flat:nodes=4,pfs=1GB/s"):
    asked = Ask(how)
    fb.simulate(workload, machine, asked, job_model="io-aware")
    return asked.found


def test_who_has_not_said_how_much_it_knows_is_told_so():
    with pytest.raises(BadActionError, match='known = "exact", "stated" or "learned"'):
        fb.simulate(jobs((0, 1, 10, 20, 1)), "flat:nodes=4", Ask(None))


def test_what_is_exact_and_stated_by_hand():
    # At 1 GB/s: reads 10 s, computes 30 s, writes 20 s, computes; two I/O phases in 70 s. The other one computes.
    phases = [(0, "read", 0, 10 * GB), (0, "compute", 30, 0), (0, "write", 0, 20 * GB), (0, "compute", 10, 0)]
    made = jobs((0, 2, 1, 500, 1), (0, 1, 40, 100, 1), phases=phases)
    inf = float("inf")
    assert known(made, "exact") == {0: (70.0, 30.0, 30 * GB, 35.0), 1: (40.0, 0.0, 0.0, inf)}
    assert known(made, "stated") == {0: (500.0, 30.0, 30 * GB, 35.0), 1: (100.0, 0.0, 0.0, inf)}
    # Columns say more, where they say anything.
    table = made.jobs.with_columns(io_bytes=pl.Series([50.0 * GB, None]), io_period=pl.Series([None, 7.0]))
    told = known(dataclasses.replace(made, jobs=table), "stated")
    assert told == {0: (500.0, 50.0, 50 * GB, 35.0), 1: (100.0, 0.0, 0.0, 7.0)}


def test_a_chunked_buffer_is_staged_over_its_servers():
    # 10 GB for two nodes: in, an hour, out. Alone over 5 GB/s of the file system: 2 s each way.
    made = jobs((0, 2, 3600, 9000, 1), burst_buffer=[10 * GB])
    (found,) = known(made, "exact", "dragonfly-96").values()
    assert found[1] == pytest.approx(4.0, rel=0.02)
    assert found[0] == pytest.approx(3604.0, rel=1e-4)


def test_the_last_two_jobs_of_a_user_are_learned_when_they_have_ended():
    writes = [(j, "write", 0, size * GB) for j, size in ((0, 10), (1, 30), (2, 5), (3, 1), (4, 1), (5, 1))]
    rows = [(0, 1, 1, 100, 7), (20, 1, 1, 100, 7), (25, 1, 1, 100, 7), (60, 1, 1, 100, 7), (60, 1, 1, 100, 8),
            (60, 1, 1, 12, 7)]  # fmt: skip
    found = known(jobs(*rows, phases=writes), "learned")
    assert found[0][:3] == (100.0, 0.0, 0.0)  # nothing has ended
    assert found[1][:3] == found[2][:3] == (10.0, 10.0, 10 * GB)  # the first has, at 10
    assert found[3][:3] == (17.5, 17.5, 17.5 * GB)  # those that ended last: the second at 55, and the third at 35
    assert found[4][:3] == found[3][:3]  # of a new user, the last two of all
    assert found[5][:3] == (12.0, 12.0, 12 * GB)  # no longer than the walltime


def ordinary(seed):
    """Jobs that read, compute and write, which hardly ever tie."""
    rng = random.Random(f"known {seed}")
    rows, phases, now = [], [], 0.0
    for j in range(12):
        rows.append((now, rng.randint(1, 6), 1.0, 1e5, rng.randint(1, 3)))
        phases += [(j, "read", 0, rng.choice((0, rng.uniform(1, 90) * GB))), (j, "compute", rng.uniform(5, 90), 0)]
        phases.append((j, "write", 0, rng.choice((0, rng.uniform(1, 90) * GB))))
        now += rng.choice((0.0, rng.uniform(0, 40)))
    return jobs(*rows, phases=phases)


@pytest.mark.parametrize("seed", range(12))
def test_io_intensity_is_its_twin_on_ordinary_jobs(seed):
    made, how, alpha = ordinary(seed), ("exact", "stated", "learned")[seed % 3], (0.2, 0.4, 1.0)[seed // 3 % 3]
    naive = Naive(alpha, adaptive=seed % 2 == 1)
    naive.known = how
    spec = f"io-intensity{'-adaptive' if seed % 2 else ''}:alpha={alpha},known={how}"
    ours, theirs = (fb.simulate(made, "flat:nodes=8,pfs=2GB/s", policy) for policy in (spec, naive))
    columns = ("time", "job", "kind", "amount")
    assert ours.log.select(columns).equals(theirs.log.select(columns))


def test_every_policy_that_weighs_io_runs_a_buffer_in_chunks_to_the_end():
    whole = fb.read("default")
    made = dataclasses.replace(whole, jobs=whole.jobs.head(60))
    for policy in ("io-bb:known=learned", "io-intensity:known=stated", "io-intensity-adaptive"):
        ran = fb.simulate(made, policy=policy)
        assert (ran.jobs["final_state"] != "REJECTED").all()


def test_what_cannot_be_known_is_refused_by_name():
    still = jobs((0, 1, 10, 20, 1))
    for policy, workload, words in (
        (fb.policies.load("io-bb"), still, "policy 'io-bb' weighs what jobs read and write, and no job"),
        ("io-intensity", jobs((0, 1, 10, 20, 1), io_seconds=[5.0]), "write known=stated to go by its column io_sec"),
        ("io-bb:known=stated", jobs((0, 1, 10, 20, 1), io_bytes=[-5.0]), "job 0 has io_bytes -5; give 0 or more"),
        ("io-bb:known=stated", jobs((0, 1, 10, 20, 1), io_bytes=["a"]), "column io_bytes holds text"),
        (Ask("guessed"), still, "known is 'guessed'"),
    ):
        with pytest.raises(InputError, match=words):
            fb.simulate(workload, "flat:nodes=4,pfs=1GB/s", policy)
    with pytest.raises(InputError, match="known is 'guessed'"):
        fb.policies.load("io-bb:known=guessed")
