"""Jobs of the policy slurm that displace others: by hand, against a slow twin, and what is refused."""

import random
from pathlib import Path

import polars as pl
import pytest

import forebay as fb
from forebay.errors import BadActionError, InputError
from forebay.platforms import Reservation
from forebay.report import write as write_report
from forebay.testing import check_policy
from forebay.workload.workload import job_table
from twins.slurm_preempt import PreemptingPinned, PreemptingSlurm

pytestmark = pytest.mark.small

QOS = {0: "low", 1: "mid", 2: "high"}
LOW, MID, HIGH = QOS
BY_QOS = "slurm:PreemptType=qos,Preempt=high=low"
DEFAULTS = {
    "default_queue_depth": 100, "partition_job_depth": 0, "sched_interval": 60.0, "batch_sched_delay": 3.0,
    "bf_interval": 30.0, "bf_window": 1440.0, "bf_resolution": 60.0, "bf_window_linear": 0.0, "bf_max_job_test": 500,
    "bf_max_job_user": 0, "bf_max_job_part": 0, "bf_max_job_start": 0, "bf_min_age_reserve": 0.0, "bf_licenses": False,
}  # fmt: skip
CHAIN = "slurm:PreemptType=qos,Preempt=high=mid;high=low;mid=low,qos=high=100;mid=10;low=1"


def workload(*jobs, names=True):
    """Jobs as (submit, seconds, walltime, nodes, QOS)."""
    columns = {
        name: [job[i] for job in jobs] for i, name in enumerate(("submit", "run_time", "walltime", "nodes", "qos"))
    }
    times = {name: [float(value) for value in columns[name]] for name in ("submit", "run_time", "walltime")}
    table = job_table({"id": range(1, len(jobs) + 1)} | columns | times)
    return fb.Workload("by hand", table, names={"qos": QOS} if names else {})


def attempts(result):
    """When each job started, each time."""
    rows = result.log.filter(pl.col("kind") == "start").group_by("job", maintain_order=True).agg("time").sort("job")
    return rows["time"].to_list()


def ends(result):
    return result.jobs.sort("job_id")["finish_time"].to_list()


def run(work, policy, nodes=4):
    result = fb.simulate(work, f"flat:nodes={nodes}", policy)
    assert_nothing_is_held_twice(result, nodes)
    return result


def assert_nothing_is_held_twice(result, nodes):
    """Add up, row by row of the log, what jobs hold."""
    held = 0
    moves = result.log.filter(pl.col("kind").is_in(["acquire", "release"]) & (pl.col("resource") == "nodes"))
    for kind, amount in moves.select("kind", "amount").iter_rows():
        held += amount if kind == "acquire" else -amount
        assert 0 <= held <= nodes
    assert held == 0


def test_a_high_job_displaces_a_low_one_which_runs_again_from_the_beginning():
    # Job 1 has all nodes from 0 on. Job 2 comes at 100 and takes them at once. Job 1 may start again 121 s behind that,
    # at 221, when job 2 still runs; so it does when that ends, at 400, and takes its 1000 s anew.
    work = workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH))
    result = run(work, BY_QOS)
    assert attempts(result) == [[0, 400], [100]]
    assert ends(result) == [1400, 400]
    row = result.jobs.row(0, named=True)
    assert (row["n_attempts"], row["lost_time"], row["waiting_time"], row["total_wait"]) == (2, 100, 0, 300)
    summary = fb.summary(result)
    assert summary["n_steals"] == 1
    assert summary["lost_to_policy_node_hours"] == pytest.approx(400 / 3600)
    assert attempts(run(work, "slurm")) == [[0], [1000]]


def test_a_requeued_job_waits_until_its_credential_has_expired():
    # Job 2 is over at 110. Nodes are idle, but job 1 may start again only at 221, or 101. The main scheduler looks at
    # 110 and at 240.
    work = workload((0, 1000, 1200, 4, LOW), (100, 10, 600, 4, HIGH))
    assert attempts(run(work, BY_QOS)) == [[0, 240], [100]]
    assert attempts(run(work, BY_QOS + ",cred_expire=0")) == [[0, 110], [100]]


def test_two_victims_where_two_are_needed():
    # Job 3 lacks 4 nodes: both low jobs give way.
    work = workload((0, 1000, 1200, 2, LOW), (0, 1000, 1200, 2, LOW), (100, 300, 600, 4, HIGH))
    assert attempts(run(work, BY_QOS)) == [[0, 400], [0, 400], [100]]


def test_few_victims_the_lowest_and_smallest_first():
    # A job of 1 node: of the low ones that with the fewest nodes gives way, of these the first; the mid one stays.
    jobs = [(0, 1000, 1200, 1, MID), (0, 1000, 1200, 2, LOW), (0, 1000, 1200, 1, LOW), (0, 1000, 1200, 1, LOW)]
    work = workload(*jobs, (100, 300, 600, 1, HIGH))
    assert [len(one) for one in attempts(run(work, CHAIN, nodes=5))] == [1, 1, 2, 1, 1]
    # One of 3 nodes: the small ones and then the large one make room; the large one and one small are enough.
    work = workload(*jobs, (100, 300, 600, 3, HIGH))
    assert [len(one) for one in attempts(run(work, CHAIN, nodes=5))] == [1, 2, 2, 1, 1]
    # Without another order all three are displaced.
    spec = CHAIN + ",preempt_reorder_count=0"
    assert [len(one) for one in attempts(run(work, spec, nodes=5))] == [1, 2, 2, 2, 1]
    # In strict order whoever made it fit goes first: here it is the large one, too.
    spec = CHAIN + ",preempt_strict_order=true"
    assert [len(one) for one in attempts(run(work, spec, nodes=5))] == [1, 2, 2, 1, 1]


def test_the_youngest_first():
    # Job 2 starts at 3, with the second run of the main scheduler.
    work = workload((0, 1000, 1200, 2, LOW), (1, 1000, 1200, 2, LOW), (100, 300, 600, 2, HIGH))
    assert [len(one) for one in attempts(run(work, BY_QOS))] == [2, 1, 1]
    assert [len(one) for one in attempts(run(work, BY_QOS + ",preempt_youngest_first=true"))] == [1, 2, 1]


def test_a_job_is_safe_for_a_while_after_its_start():
    # Job 1 is safe until 600: job 2 comes at 100 and waits for the run of the main scheduler at 600.
    work = workload((0, 2000, 2400, 4, LOW), (100, 300, 600, 4, HIGH))
    assert attempts(run(work, BY_QOS + ",PreemptExemptTime=10min")) == [[0, 900], [600]]
    assert attempts(run(work, BY_QOS + ",PreemptExemptTime=0;low=10min")) == [[0, 900], [600]]
    assert attempts(run(work, BY_QOS + ",PreemptExemptTime=10min;low=0")) == [[0, 400], [100]]
    assert attempts(run(work, BY_QOS + ",PreemptExemptTime=1h")) == [[0], [2000]]


def test_nobody_gives_way_if_that_is_not_enough():
    # Jobs 1 (high) and 2 (low) have 2 nodes each. Job 3 wants 3, and could have 2: nobody is displaced, and it starts
    # at 1000, when both have ended.
    work = workload((0, 1000, 1200, 2, HIGH), (0, 1000, 1200, 2, LOW), (100, 300, 600, 3, HIGH))
    assert attempts(run(work, BY_QOS)) == [[0], [0], [1000]]


def test_jobs_that_are_cancelled_are_over():
    work = workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH))
    for mode in ("CANCEL", "REQUEUE;low=CANCEL", "cancel"):
        result = run(work, f"{BY_QOS},PreemptMode={mode}")
        assert attempts(result) == [[0], [100]]
        assert ends(result) == [100, 400]
        row = result.jobs.row(0, named=True)
        assert (row["final_state"], row["lost_time"]) == ("COMPLETED_KILLED", 100)
    assert attempts(run(work, f"{BY_QOS},PreemptMode=REQUEUE;low=OFF")) == [[0], [1000]]


def test_jobs_of_one_qos_never_displace_one_another():
    work = workload((0, 1000, 1200, 4, HIGH), (100, 300, 600, 4, HIGH))
    assert attempts(run(work, BY_QOS)) == [[0], [1000]]


def test_a_chain():
    # Job 2 (mid) displaces job 1 (low) at 100, and job 3 (high) job 2 at 200. It ends at 500, when both may start
    # again. Job 2 may displace job 1, and goes before it, in whatever order they came. Job 1 follows at 1000.
    work = workload((0, 1000, 1200, 4, LOW), (100, 500, 600, 4, MID), (200, 300, 600, 4, HIGH))
    assert attempts(run(work, CHAIN)) == [[0, 1000], [100, 500], [200]]
    by_priority = CHAIN + ",PriorityType=multifactor,PriorityWeightQOS=1000"
    assert attempts(run(work, by_priority)) == [[0, 1000], [100, 500], [200]]


def test_who_may_displace_others_goes_before_them():
    # Job 2 is low and blocks the queue. Job 3 is high, and goes first; job 4 is mid, and waits behind job 2, unless it
    # may displace that one.
    work = workload((0, 1000, 1200, 2, LOW), (10, 100, 600, 4, LOW), (100, 300, 600, 3, HIGH), (100, 50, 3600, 1, MID))
    assert attempts(run(work, BY_QOS)) == [[0, 400], [1400], [100], [1500]]
    assert attempts(run(work, CHAIN)) == [[0, 400], [1400], [100], [100]]


def test_behind_a_blocked_head_jobs_are_displaced_by_backfilling():
    # Jobs 1 (mid, until 4800 at the latest) to 4 have a node each. Job 5 wants all nodes: it blocks the queue, and
    # reserves them from 4800 on. Job 6 wants one until then: the cycle at 130 displaces job 2, and the next one, at
    # 160, starts it. A longer one would not end by then.
    low = [(0, 3000, 4800, 1, LOW)] * 3
    work = workload((0, 4000, 4800, 1, MID), *low, (100, 50, 60, 4, HIGH), (120, 200, 600, 1, HIGH))
    for spec in (BY_QOS, BY_QOS + ",reservations=pinned"):
        found = run(work, spec)
        assert attempts(found)[4:] == [[4000], [160]]
        assert [len(one) for one in attempts(found)] == [1, 2, 1, 1, 1, 1]
    longer = workload((0, 4000, 4800, 1, MID), *low, (100, 50, 60, 4, HIGH), (120, 200, 6000, 1, HIGH))
    for spec in (BY_QOS, BY_QOS + ",reservations=pinned"):
        assert attempts(run(longer, spec))[4:] == [[4000], [4050]]


def test_notice():
    # Job 1 has 60 s more, until 160. Who is over its time is stopped at 180, and job 2 starts. If job 1 ends by itself
    # before, all is well.
    work = workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH))
    assert attempts(run(work, BY_QOS + ",GraceTime=60")) == [[0, 480], [180]]
    assert attempts(run(work, BY_QOS + ",GraceTime=0;low=60")) == [[0, 480], [180]]
    assert attempts(run(work, BY_QOS + ",GraceTime=60,PreemptMode=CANCEL")) == [[0], [180]]
    soon = workload((0, 130, 1200, 4, LOW), (100, 300, 600, 4, HIGH))
    assert attempts(run(soon, BY_QOS + ",GraceTime=60")) == [[0], [130]]


def test_by_partition():
    # Two partitions of the same nodes; that of a higher tier displaces.
    columns = {"submit": [0.0, 100.0], "run_time": [1000.0, 300.0], "walltime": [1200.0, 600.0], "nodes": [4, 4]}
    table = job_table({"id": [1, 2], "queue": [0, 1]} | columns)
    work = fb.Workload("by hand", table, names={"queue": {0: "day", 1: "urgent"}})
    machine = fb.platform("flat:nodes=4")
    parts = ({"name": "day", "nodes": "0-3"}, {"name": "urgent", "nodes": "0-3", "priority_tier": 10})
    divided = type(machine).model_validate(machine.model_dump() | {"partitions": parts})
    assert attempts(fb.simulate(work, divided, "slurm")) == [[0], [1000]]
    assert attempts(fb.simulate(work, divided, "slurm:PreemptType=partition_prio")) == [[0, 400], [100]]
    spared = "slurm:PreemptType=partition_prio,PreemptMode=REQUEUE;day=OFF"
    assert attempts(fb.simulate(work, divided, spared)) == [[0], [1000]]


def test_a_relation_that_nobody_uses_changes_nothing():
    work = workload(*[(10 * i, 100 + 7 * i, 200 + 9 * i, 1 + i % 4, LOW) for i in range(30)])
    plain, other = fb.simulate(work, "flat:nodes=4", "slurm"), fb.simulate(work, "flat:nodes=4", BY_QOS)
    assert plain.facts["log_sha256"] == other.facts["log_sha256"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("PreemptType=priority", "PreemptType is 'priority'"),
        ("PreemptType=qos,Preempt=high", "Preempt: 'high' is not QOS=QOS"),
        ("PreemptType=qos,Preempt=high=high", "'high=high': jobs of one QOS do not displace one another"),
        ("PreemptType=qos,Preempt=high=low;low=high", "in a circle: high > low > high"),
        ("PreemptType=qos,Preempt=a=b;b=c;c=a", "in a circle: a > b > c > a"),
        ("Preempt=high=low", "Preempt says nothing with PreemptType=none"),
        ("PreemptType=qos,Preempt=high=low,PreemptMode=SUSPEND", "so none can be suspended"),
        ("PreemptType=qos,Preempt=high=low,PreemptMode=GANG", "so none take turns"),
        ("PreemptType=qos,Preempt=high=low,PreemptMode=KILL", "PreemptMode is 'KILL'"),
        ("PreemptType=qos,Preempt=high=low,PreemptExemptTime=long", "PreemptExemptTime: 'long' is not a time"),
        ("PreemptType=qos,Preempt=high=low,GraceTime=inf", "GraceTime: 'inf' is not a time"),
        ("preempt_reorder_count=-1", "preempt_reorder_count is -1"),
        ("cred_expire=-1", "cred_expire is -1"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InputError, match=message):
        fb.policies.load(f"slurm:{options}")


def test_names_that_the_workload_lacks_are_noted():
    work = workload((0, 100, 100, 1, LOW))
    slip = fb.simulate(work, "flat:nodes=4", "slurm:PreemptType=qos,Preempt=hihg=low,GraceTime=none=60")
    note = "the policy names QOS 'hihg', 'none', which no job has: did you mean 'high'?"
    assert [one for one in slip.facts["notes"] if "hihg" in one] == [note]
    nameless = fb.simulate(workload((0, 100, 100, 1, LOW), names=False), "flat:nodes=4", BY_QOS)
    assert "does not give the QOS of any job" in str(nameless.facts["notes"])
    by_number = fb.simulate(
        workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH), names=False),
        "flat:nodes=4", "slurm:PreemptType=qos,Preempt=2=0",
    )  # fmt: skip
    assert attempts(by_number) == [[0, 400], [100]]


class Higher(fb.Policy):
    """Who has the higher number of QOS goes first, and displaces others."""

    def __init__(self, cancel: bool = False):
        self.cancel = cancel

    def decide(self, view, act):
        qos = view.jobs["qos"]
        for job in sorted(view.queue.tolist(), key=lambda job: (-qos[job], job)):
            if act.fits(job):
                act.start(job)
                continue
            lower = [one for one in view.running["job"].tolist() if qos[one] < qos[job]]
            if act.preempt(job, sorted(lower, key=lambda one: qos[one]), cancel=self.cancel):
                assert not act.fits(job)
            return


def test_a_policy_in_python():
    work = workload((0, 1000, 1200, 4, LOW), (100, 500, 600, 4, MID), (200, 300, 600, 4, HIGH))
    assert attempts(run(work, Higher())) == [[0, 1000], [100, 500], [200]]
    assert attempts(run(work, Higher(cancel=True))) == [[0], [100], [200]]


def one_decision(of):
    class Once(fb.Policy):
        def decide(self, view, act):
            act.backfill()
            if view.now == 100 and 1 in view.queue:
                of(view, act)

    return fb.simulate(workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH)), "flat:nodes=4", Once())


def two_in_one(of):
    """At 100, job 1 runs on three nodes; backfilling starts job 2 on the fourth, and job 3 on two waits."""

    class Once(fb.Policy):
        def decide(self, view, act):
            act.backfill()
            if view.now == 100 and 1 in view.queue:
                of(act)

    return fb.simulate(
        workload((0, 1000, 1200, 3, LOW), (100, 300, 600, 1, MID), (100, 300, 600, 2, HIGH)), "flat:nodes=4", Once()
    )


def test_backfill_first_then_preempt():
    """Job 3 then takes the place of job 1: three nodes, of which job 2 has none."""
    assert attempts(two_in_one(lambda act: act.preempt(2, [0]))) == [[0, 400], [100], [100]]


def test_what_a_policy_may_not_ask_for():
    with pytest.raises(BadActionError, match=r"gave act\.preempt job 2, which does not run"):
        one_decision(lambda view, act: act.preempt(1, [1]))
    with pytest.raises(BadActionError, match="job 1, which does not wait"):
        one_decision(lambda view, act: act.preempt(0, [0]))
    with pytest.raises(BadActionError, match=r"gave act\.preempt a job twice"):
        one_decision(lambda view, act: act.preempt(1, [0, 0]))
    with pytest.raises(BadActionError, match=r"gave act\.preempt 'all' as its order; give a list of jobs$"):
        one_decision(lambda view, act: act.preempt(1, "all"))
    with pytest.raises(BadActionError, match=r"called act\.backfill after act\.preempt; return"):
        one_decision(lambda view, act: act.preempt(1, [0]) and act.backfill())
    for of in (lambda act: act.preempt(1, [0]), lambda act: act.preempt(2, [1])):
        with pytest.raises(
            BadActionError, match=r"job 2 \(row 1\), which it has started already .* act\.backfill, which"
        ):
            two_in_one(of)
    assert attempts(one_decision(lambda view, act: act.preempt(1, [0]))) == [[0, 400], [100]]
    assert attempts(one_decision(lambda view, act: act.preempt(1, []))) == [[0], [1000]]


def draw(rng):
    """A random workload of whole seconds, on a machine that is mostly too small for it."""
    submit, jobs = 0, []
    for _ in range(rng.randint(6, 20)):
        submit += rng.choice((0, 1, 3, 10, 30, 100))
        walltime = 60 * rng.randint(1, 15)
        run_time = rng.choice((walltime, rng.randint(1, walltime)))
        jobs.append((submit, run_time, walltime, rng.choice((1, 1, 2, 3, 4, 6, 8)), rng.choice((LOW, LOW, MID, HIGH))))
    return workload(*jobs)


def options(rng, twin):
    """Random parameters: the spec, and a twin with the same ones."""
    pairs = rng.choice((("high=low",), ("high=low", "high=mid"), ("high=mid", "mid=low", "high=low"), ("mid=low",)))
    usual, low = rng.choice(("REQUEUE", "CANCEL")), rng.choice(("REQUEUE", "CANCEL", "REQUEUE", "OFF"))
    exempt, grace = rng.choice((0, 0, 60, 300)), rng.choice((0, 0, 0, 20, 90))
    youngest, reorder, strict = rng.random() < 0.3, rng.choice((0, 1, 1, 3)), rng.random() < 0.3
    expires, ranks = rng.choice((0, 9, 120)), {"low": rng.choice((1, 20)), "mid": 10, "high": 100}
    chosen = {
        "default_queue_depth": rng.choice((1, 3, 100)), "sched_interval": rng.choice((20.0, 60.0)),
        "batch_sched_delay": rng.choice((0.0, 3.0)), "bf_interval": rng.choice((5.0, 30.0)),
        "bf_resolution": rng.choice((1.0, 60.0)),
    }  # fmt: skip
    spec = "slurm:" + ",".join(f"{key}={value}" for key, value in chosen.items())
    spec += f",PreemptType=qos,Preempt={';'.join(pairs)},PreemptMode={usual};low={low}"
    spec += f",PreemptExemptTime={exempt};low=30"
    spec += f",GraceTime=0;low={grace},preempt_youngest_first={youngest},preempt_reorder_count={reorder}"
    spec += f",preempt_strict_order={strict},cred_expire={expires}"
    spec += ",qos=" + ";".join(f"{name}={rank}" for name, rank in ranks.items())
    codes = {name: code for code, name in QOS.items()}
    below = {}
    for pair in pairs:
        one, other = (codes[name] for name in pair.split("="))
        below.setdefault(one, set()).add(other)
    rules = {
        codes[name]: {"priority": rank, "mode": usual, "exempt": exempt, "grace": 0} for name, rank in ranks.items()
    }
    rules[LOW] |= {"mode": low, "exempt": 30, "grace": grace}
    return spec, twin(below, rules, youngest, reorder, strict, expires + 1.0, **(DEFAULTS | chosen))


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 200), marks=pytest.mark.full)])
@pytest.mark.parametrize(("twin", "reservations"), [(PreemptingSlurm, "counted"), (PreemptingPinned, "pinned")])
def test_against_a_slow_twin(twin, reservations, seeds):
    displaced = behind = 0
    for seed in seeds:
        rng = random.Random(f"preempt {seed}")
        work = draw(rng)
        spec, slow = options(rng, twin)
        spec += f",reservations={reservations}"
        fast, slow = run(work, spec, nodes=8), run(work, slow, nodes=8)
        assert attempts(fast) == attempts(slow), (seed, spec)
        assert ends(fast) == ends(slow), (seed, spec)
        stopped = fast.log.filter(pl.col("reason") == "interrupted")["time"].to_list()
        displaced += len(stopped) > 0
        behind += ",GraceTime=0;low=0," in spec and not set(stopped) <= {time for one in attempts(fast) for time in one}
    assert displaced > len(seeds) // 4
    assert behind > 0


def test_the_policy_of_the_page():
    text = (Path(__file__).parents[2] / "docs/reference/policies/preemption.md").read_text(encoding="utf-8")
    room = {"fb": fb}
    exec(text.split("```python\n")[1].split("```")[0], room)
    work = workload((0, 2000, 2400, 4, LOW), (100, 500, 600, 4, HIGH))
    assert attempts(run(work, room["ByQos"]())) == [[0, 1400], [900]]
    assert attempts(run(work, room["ByQos"](exempt=0.0))) == [[0, 600], [100]]
    report = check_policy(room["ByQos"](), n_cases=10)
    assert report.passed, report.explanation


def test_a_run_can_be_explained_reported_and_kept(tmp_path):
    result = run(workload((0, 1000, 1200, 4, LOW), (100, 300, 600, 4, HIGH), (150, 50, 60, 1, MID)), BY_QOS)
    assert result.jobs["n_attempts"].to_list() == [2, 1, 1]
    waits = fb.explain.chain(result, 3)
    assert waits["blocker"][0] == 1  # requeued, it is before job 3 in line, and has all nodes from 400 to 1400
    result.save(tmp_path / "run")
    again = fb.load(tmp_path / "run")
    assert again.jobs.equals(result.jobs)
    assert write_report(tmp_path / "run").stat().st_size > 1000


@pytest.mark.parametrize("seed", range(8))
def test_a_reservation_of_some_nodes_in_the_far_future_changes_nothing(seed):
    """Reservations of the site part nodes into atoms; the profile of a cycle with victims was read beside them."""
    rng = random.Random(seed)
    rows = []
    for _ in range(50):
        seconds = rng.randint(1, 3000)
        size = rng.choice((1, 1, 2, 5, 9, 14))
        rows.append((rng.randint(0, 9000), seconds, seconds + rng.choice((0, 60, 2000)), size, rng.choice(list(QOS))))
    work = workload(*sorted(rows))
    parted = fb.Platform(
        name="m", nodes=16, reservations=(Reservation(name="far", start="100000000 s", duration="60 s", nodes="3-6"),)
    )
    plain, other = (fb.simulate(work, machine, CHAIN) for machine in ("flat:nodes=16", parted))
    assert attempts(plain) == attempts(other)
