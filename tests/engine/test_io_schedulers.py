"""I/O schedulers beside a policy: by hand, against a slow twin, and what is refused."""

import random
from pathlib import Path

import pytest

import forebay as fb
from cases import stepped
from forebay import _plugins
from forebay.core.limits import IO_SCHEDULERS
from forebay.engine.io_schedulers.calciom import cost
from forebay.errors import InputError
from policies.test_known_io import GB, jobs
from twins import io_scheduling as naive

pytestmark = pytest.mark.small

MACHINE = "flat:nodes=16,pfs=1GB/s"


def workload(*rows):
    """Jobs as (submit, nodes, phases); these are GB to write and seconds to compute, in turns."""
    phases = [
        (j, "compute" if k % 2 else "write", size if k % 2 else 0, 0 if k % 2 else size * GB)
        for j, (*_, own) in enumerate(rows)
        for k, size in enumerate(own)
    ]
    return jobs(*((submit, nodes, 1, 100_000, 1) for submit, nodes, _ in rows), phases=phases)


def run(scheduler, *rows, machine=MACHINE):
    return fb.simulate(workload(*rows), machine, f"fcfs+io:{scheduler}", job_model="io-aware")


def ends(scheduler, *rows, machine=MACHINE):
    return run(scheduler, *rows, machine=machine).jobs["finish_time"].to_list()


@pytest.mark.parametrize(
    ("scheduler", "rows", "expected"),
    [
        ("fair", [(0, 1, [30]), (0, 1, [10])], [40, 20]),
        ("fcfs-io", [(0, 1, [30]), (5, 1, [10]), (10, 1, [10])], [30, 40, 50]),
        # The first two come at most every 20 s: set 1. The last every 200 s: set 2, with a tenth of their weight, so
        # 1/11 of the link for the 24.2 s in which they write 11 GB each at 10/11 GB/s; 97.8 GB are left.
        ("set-10", [(0, 1, [11, 9]), (0, 1, [11, 9]), (0, 1, [100, 100])], [21.1, 33.2, 222]),
        # The second interrupts, at 5, what has 25 left; the third has more left than the second.
        ("io-exclusive-by-remaining", [(0, 1, [30]), (5, 1, [10]), (6, 1, [9.5])], [49.5, 15, 24.5]),
        # At 29 the second would take (24 + 10) / 10 of its time alone, and goes before the first, with 30 / 30. At 39
        # the third has 10.1 / 0.1, the first 40 / 30.
        ("io-priority", [(0, 1, [30]), (5, 1, [10]), (29, 1, [0.1])], [40.1, 39, 39.1]),
        # Of one node each: to wait costs 25 + 35 node-seconds, to interrupt 10 + 35.
        ("calciom", [(0, 1, [30]), (5, 1, [10])], [40, 15]),
        # Of 4 nodes and one: 4 x 25 + 35 to wait, 10 + 4 x 35 to interrupt.
        ("calciom", [(0, 4, [30]), (5, 1, [10])], [30, 40]),
        # The first, interrupted at 5, goes on at 15 before the third, which waits: to interrupt costs 9 + 18, too.
        ("calciom", [(0, 1, [30]), (5, 1, [10]), (6, 1, [9])], [40, 15, 49]),
    ],
)
def test_by_hand(scheduler, rows, expected):
    assert ends(scheduler, *rows) == pytest.approx(expected, rel=1e-12)


def test_what_calciom_weighs_by_hand():
    # Two that fill the link, of as many nodes, with as much left: one after the other, or both at half the rate.
    assert cost(1, 10, 1, 1, 10, 1) == pytest.approx((30, 30, 40))
    # Of a half and three quarters of the link: shared, the first has its half, the other the rest, and then all of it.
    # The first is over at 10, the other has moved 5 of 7.5 and needs 2.5 / 0.75 more.
    assert cost(1, 10, 0.5, 1, 10, 0.75) == pytest.approx((30, 30, 10 + 10 + 10 / 3))


def test_names_are_those_of_the_room():
    import forebay.engine.io_schedulers as room

    files = {path.stem.replace("_", "-") for path in Path(room.__path__[0]).glob("[a-z]*.py")}
    assert files == set(IO_SCHEDULERS) == set(_plugins.names("engine.io_schedulers"))


@pytest.mark.parametrize("scheduler", [name for name in IO_SCHEDULERS if name != "calciom"])
def test_a_slow_twin_agrees(scheduler):
    """Random jobs of up to four writes each, on one link; ends within 1e-9 of their size: clocks round."""
    for seed in range(20):
        rng = random.Random(f"{scheduler} {seed}")
        rows = []
        for _ in range(rng.randint(2, 8)):
            scale = rng.choice((1, 10, 100))
            own = [size for _ in range(rng.randint(1, 4)) for size in (rng.uniform(0.1, scale), rng.uniform(1, scale))]
            rows.append((rng.uniform(0, 50), 1, own))
        rows.sort(key=lambda row: row[0])
        submits = [row[0] - rows[0][0] for row in rows]
        rows = [(submit, *row[1:]) for submit, row in zip(submits, rows, strict=True)]
        expected = naive.run(scheduler, submits, [own for *_, own in rows])
        assert ends(scheduler, *rows) == pytest.approx(expected, rel=1e-9), seed


def test_what_is_measured():
    """Two write 30 GB each: 60 s at half the rate, or the second waits 30 s."""
    fair, queued = (fb.summary(run(name, (0, 1, [30, 40]), (0, 1, [30, 40]))) for name in ("fair", "fcfs-io"))
    assert (fair["mean_io_slowdown"], fair["mean_io_stall"], fair["max_io_slowdown"]) == (2, 30, 2)
    assert (queued["mean_io_slowdown"], queued["mean_io_stall"], queued["max_io_slowdown"]) == (1.5, 15, 2)
    assert fair["platform_efficiency"] == queued["platform_efficiency"] == pytest.approx(2 * 40 / (16 * 100))
    assert "mean_io_slowdown" not in fb.summary(fb.simulate(workload((0, 1, [30])), MACHINE, "fcfs"))


def test_fair_leaves_a_run_as_it_is():
    made, machine = fb.read("table1"), "flat:nodes=40,burst_buffer=100TB,pfs=1GB/s"
    plain, beside = (fb.simulate(made, machine, spec) for spec in ("fcfs-bb", "fcfs-bb+io:fair"))
    assert plain.facts["log_sha256"] == beside.facts["log_sha256"]
    assert beside.facts["io"] == "fair"


@pytest.mark.parametrize("scheduler", IO_SCHEDULERS)
def test_drains_and_staging_end_under_each(scheduler):
    """Chunked buffers, drains beside computing, walltimes: every byte that crosses without a scheduler crosses."""
    rng = random.Random(7)
    rows = [(10 * j, rng.randint(1, 20), rng.uniform(1000, 9000), 20_000, 1) for j in range(12)]
    made = jobs(*rows, burst_buffer=[nodes * rng.randint(1, 9) * GB for _, nodes, *_ in rows])
    plain = fb.simulate(made, "dragonfly-96", "fcfs-bb", job_model="io-aware:kill=false")
    found = fb.simulate(made, "dragonfly-96", f"fcfs-bb+io:{scheduler}", job_model="io-aware:kill=false")
    assert (found.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").all()
    assert found.links["bytes"].to_list() == pytest.approx(plain.links["bytes"].to_list(), rel=1e-9)
    assert (found.jobs["transfer_time"] >= found.jobs["transfer_time_alone"] * (1 - 1e-9)).all()


@pytest.mark.parametrize("scheduler", ["set-10:known=learned", "io-priority", "calciom"])
def test_steps_snapshots_and_forks_leave_no_trace(scheduler):
    rng = random.Random(3)
    rows = [(rng.uniform(0, 30), rng.randint(1, 8), [rng.uniform(1, 20) for _ in range(4)]) for _ in range(6)]
    made, spec = workload(*sorted(rows)), f"fcfs+io:{scheduler}"
    found = stepped.simulate(made, MACHINE, spec, job_model="io-aware")
    whole = fb.simulate(made, MACHINE, spec, job_model="io-aware")
    assert found.facts["log_sha256"] == whole.facts["log_sha256"]
    assert found.jobs["transfer_time"].to_list() == whole.jobs["transfer_time"].to_list()


def test_what_is_known_and_refused():
    rows = [(0, 1, [11, 9]), (0, 1, [11, 9]), (0, 1, [100, 100])]
    # Nothing has ended yet: all are taken for one phase of 100,000 s, in one set.
    assert ends("set-10:known=learned", *rows) == pytest.approx([20, 31, 222], rel=1e-12)
    for spec, words in (
        ("fcfs+io:sets", "io is 'sets'"),
        ("fcfs+io:fcfs-io:known=exact", "has no parameter 'known'"),
        ("fcfs+io:set-10:known=guessed", "known is 'guessed'"),
        ("fcfs+io:fair+io:set-10", "io is given twice"),
    ):
        with pytest.raises(InputError, match=words):
            fb.policies.load(spec)

    class Steers(fb.Policy):
        steers = True

        def decide(self, view, act):
            pass

    with pytest.raises(InputError, match="weighs and holds transfers itself"):
        fb.simulate(workload(*rows), MACHINE, fb.policies.IoScheduled(Steers(), "fair"))
    with pytest.raises(InputError, match="known=stated, and its io:set-10 known=learned"):
        fb.simulate(workload(*rows), MACHINE, "io-intensity:known=stated+io:set-10:known=learned", job_model="io-aware")


def test_a_note_where_nothing_moves():
    found = fb.simulate("table1", "flat:nodes=40", "fcfs+io:set-10")
    assert "io:set-10 makes no difference: nothing is moved over links in this run" in found.facts["notes"]
