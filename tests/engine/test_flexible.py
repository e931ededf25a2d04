"""Jobs whose size changes, solved by hand."""

import math
import random
from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop, move, stage
from forebay import errors
from forebay.policies import Limited, Limits

pytestmark = pytest.mark.small

GB = 10**9
NODES = "flat:nodes=16"
FILES = "flat:nodes=16,pfs=8GB/s"


class Fcfs(fb.Policy):
    """First come, first served, each with the most nodes that are free; `at_points` says what becomes of jobs there."""

    resizes = True

    def __init__(self, at_points=None, elsewhere=None, least=False):
        self.at_points, self.elsewhere, self.least, self.seen = at_points, elsewhere, least, []

    def decide(self, view, act):
        queue = view.queue.tolist()
        self.seen.append((view.now, len(queue), view.points, [view.wants(job) for job in view.points]))
        for job in view.points:
            if self.at_points:
                self.at_points(view, act, job, queue)
        for job in queue:
            sizes = [n for n in view.sizes(job) if n <= act.free[0]]
            if not sizes:
                break
            act.start(job, nodes=sizes[0 if self.least else -1])
        if self.elsewhere:
            self.elsewhere(view, act)


def yields(view, act, job, queue):
    """With somebody waiting, down to the least; with nobody, up to the most there is."""
    sizes = view.sizes(job)
    if queue and view.size(job) > sizes[0]:
        act.resize(job, sizes[0])
    most = min(sizes[-1], view.size(job) + act.free[0])
    if not queue and most > view.size(job):
        act.resize(job, most)


def run(jobs, policy, machine=NODES):
    """(start, end) of each job, and the result."""
    result = fb.simulate(jobs.workload(), machine, policy)
    return list(zip(*result.jobs.select("starting_time", "finish_time").get_columns(), strict=True)), result


def resizes(result):
    """(time, job, nodes gained or lost) of every change of size."""
    rows = result.log.filter(pl.col("reason") == "resized").select("time", "job", "kind", "amount").rows()
    return [(time, job, amount if kind == "acquire" else -amount) for time, job, kind, amount in rows]


def test_one_grows():
    # 4 nodes are left: rounds of 80 / 4 = 20 s. Job 0 ends at 35; at the point at 40 there are 12 free, up to 8: then
    # rounds of 10 s, four of them.
    jobs = Jobs()
    jobs.add("rigid", 0, [12], loop(1, compute(35)))
    jobs.add("malleable", 0, range(2, 9), loop(6, compute(lambda n: 80 / n)))
    times, result = run(jobs, Fcfs(yields))
    assert times == [(0, 35), (0, 80)]
    assert resizes(result) == [(40, 1, 4)]


def test_one_shrinks_and_its_nodes_are_used_in_the_same_decision():
    # Rounds of 10 s on 16. Jobs 1 and 2 come at 25; at the point at 30 it goes down to 4, and job 1 starts on 8 of 12.
    # Five rounds of 40 s are left. Job 2 needs all nodes.
    jobs = Jobs()
    jobs.add("malleable", 0, range(4, 17), loop(8, compute(lambda n: 160 / n)))
    jobs.add("rigid", 25, [8], loop(1, compute(7)))
    jobs.add("rigid", 25, [16], loop(1, compute(5)))
    times, result = run(jobs, Fcfs(yields))
    assert times == [(0, 230), (30, 37), (230, 235)]
    assert resizes(result) == [(30, 0, -12)]


def test_what_a_change_costs():
    # 17 s of preparation on 16 nodes, then rounds of 10 s. At 27 down to 4: 10 s to reconfigure, 40 s a round: the
    # next point is at 77. Up to 16: 10 s to reconfigure, then 12 s for the 12 new nodes: the round ends at 109.
    jobs = Jobs()
    jobs.add(
        "malleable",
        0,
        range(4, 17),
        stage("init", compute(lambda n: 1 + n)),
        loop(8, compute(lambda n: 160 / n)),
        stage("reconfiguration", compute(10)),
        stage("expansion", compute(lambda n: n)),
    )
    jobs.add("rigid", 25, [8], loop(1, compute(7)))
    policy = Fcfs(yields)
    times, result = run(jobs, policy)
    assert times == [(0, 159), (27, 34)]
    assert resizes(result) == [(27, 0, -12), (77, 0, 12)]
    assert [now for now, _, points, _ in policy.seen if points] == [27, 77, 109, 119, 129, 139, 149]


def test_a_reconfiguration_that_moves_bytes():
    # 16 nodes, rounds of 10 s; at 10 it goes down to 4, and writes 80 GB at 8 GB/s: 10 s. Then 40 s.
    jobs = Jobs()
    jobs.add(
        "malleable", 0, [4, 16], loop(2, compute(lambda n: 160 / n)), stage("reconfiguration", move("write", 80 * GB))
    )
    times, _ = run(jobs, Fcfs(lambda view, act, job, queue: act.resize(job, 4)), FILES)
    assert times == [(0, pytest.approx(60, abs=1e-9))]


def test_a_request_is_denied_and_asked_again():
    # It asks for 8 before each round but the first, which ends at 20. 12 nodes are busy until 45: denied at 20 and 40.
    # At 60 it gets 8: rounds of 10 s, and no more requests.
    jobs = Jobs()
    asks = loop(5, compute(lambda n: 80 / n), requests=lambda sizes: [(-1, n, 8) for n in sizes])
    jobs.add("evolving", 0, range(4, 9), asks, nodes=4)
    jobs.add("rigid", 0, [12], loop(1, compute(45)))

    def grant(view, act, job, queue):
        if view.wants(job) - view.size(job) <= act.free[0]:
            act.resize(job, view.wants(job))

    policy = Fcfs(grant, least=True)
    times, result = run(jobs, policy)
    assert times == [(0, 80), (0, 45)]
    assert [(now, wants) for now, _, points, wants in policy.seen if points] == [(20, [8]), (40, [8]), (60, [8])]
    assert resizes(result) == [(60, 0, 4)]


def test_requests_differ_from_round_to_round():
    # It asks for 4, 5, 6 after 1, 2, 3 rounds: 30 / 3 = 10 s, then 7.5, 6, 5.
    jobs = Jobs()
    wants = [(over, n, 3 + over) for over in range(4) for n in range(3, 7)]
    jobs.add("evolving", 0, range(3, 7), loop(4, compute(lambda n: 30 / n), requests=lambda sizes: wants), nodes=3)
    times, result = run(jobs, Fcfs(lambda view, act, job, queue: act.resize(job, view.wants(job)), least=True))
    assert times == [(0, 28.5)]
    assert resizes(result) == [(10, 0, 1), (17.5, 0, 1), (23.5, 0, 1)]


def test_an_adaptive_job_has_no_points_where_it_may_ask():
    # Three rounds with points, three with requests, three with neither; requests for 2 nodes are ignored.
    jobs = Jobs()
    round_ = compute(lambda n: 40 / n)
    asks = loop(3, round_, requests=lambda sizes: [(-1, n, 2) for n in sizes])
    jobs.add("adaptive", 0, range(2, 9), loop(3, round_), asks, loop(3, round_, point=False), nodes=4)
    policy = Fcfs()
    times, _ = run(jobs, policy, "flat:nodes=4")
    assert times == [(0, 90)]
    assert [(now, wants) for now, _, points, wants in policy.seen if points] == [
        (10, [0]), (20, [0]), (30, [2]), (40, [2]), (50, [2])
    ]  # fmt: skip


def test_a_change_decided_elsewhere_holds_its_nodes():
    # Job 0 ends at 15: job 1 is promised 4 more of its 8 nodes, but works on 8 until its point at 20. From 17 on job 2,
    # which needs 6 of the 4 that are left, waits. Then rounds of 80 / 12 s.
    jobs = Jobs()
    jobs.add("rigid", 0, [8], loop(1, compute(15)))
    jobs.add("malleable", 0, range(2, 13), loop(5, compute(lambda n: 80 / n)))
    jobs.add("rigid", 17, [6], loop(1, compute(4)))

    def promise(view, act):
        if view.now == 15:
            act.resize(1, 12)

    times, result = run(jobs, Fcfs(elsewhere=promise))
    assert times[1] == (0, pytest.approx(40, abs=1e-9))
    assert times[2] == (pytest.approx(40, abs=1e-9), pytest.approx(44, abs=1e-9))
    assert resizes(result) == [(15, 1, 4)]


def test_a_shrink_decided_elsewhere_comes_at_the_point():
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 16], loop(3, compute(lambda n: 160 / n)))
    jobs.add("rigid", 3, [8], loop(1, compute(1)))

    def promise(view, act):
        if view.now == 3:
            act.resize(0, 4)

    times, result = run(jobs, Fcfs(elsewhere=promise))
    assert resizes(result) == [(10, 0, -12)]
    assert times == [(0, 90), (10, 11)]


def test_a_second_thought_gives_back_what_was_held():
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8, 16], loop(2, compute(10)), nodes=4)
    jobs.add("rigid", 1, [1], loop(1, compute(1)))

    def waver(view, act):
        if view.now == 1:
            act.resize(0, 8)
        if view.now == 2:
            act.resize(0, 4)

    times, result = run(jobs, Fcfs(elsewhere=waver, least=True))
    assert resizes(result) == [(1, 0, 4), (2, 0, -4)]
    assert times[0] == (0, 20)


def test_what_runs_beside_is_waited_for_at_a_barrier():
    # 10 s, then 80 GB at 8 GB/s beside what follows. With a barrier the next round waits: 3 x 20. Without, writes of
    # 10 s run beside the next 10 s of work: 10 + 10 + 10 + 10.
    for barrier, end in ((True, 60), (False, 40)):
        jobs = Jobs()
        jobs.add("rigid", 0, [4], loop(3, compute(10), move("write", 80 * GB, beside=True), barrier=barrier))
        times, _ = run(jobs, Fcfs(), FILES)
        assert times == [(0, pytest.approx(end, abs=1e-9))]


def test_a_point_waits_for_what_runs_beside():
    # Without a barrier, but with points: the write ends at 20, and so the point is there.
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8], loop(2, compute(10), move("write", 80 * GB, beside=True), barrier=False), nodes=4)
    policy = Fcfs(least=True)
    times, _ = run(jobs, policy, FILES)
    assert [now for now, _, points, _ in policy.seen if points] == [pytest.approx(20, abs=1e-9)]
    assert times == [(0, pytest.approx(40, abs=1e-9))]


@pytest.mark.parametrize("rounds", [4000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_a_million_rounds_cost_what_their_events_cost(rounds):
    jobs = Jobs()
    jobs.add("rigid", 0, [4], loop(rounds, compute(1)))
    result = fb.simulate(jobs.workload(), NODES)
    assert result.jobs["finish_time"].to_list() == [rounds]
    assert len(result.log) == 3


def test_who_is_killed_at_a_point_does_not_go_on():
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8], loop(9, compute(10)))
    jobs.add("rigid", 5, [16], loop(1, compute(1)))
    times, result = run(jobs, Fcfs(lambda view, act, job, queue: act.kill(job)))
    assert times == [(0, 10), (10, 11)]
    assert result.jobs["final_state"].to_list() == ["COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY"]


def test_the_walltime_counts_over_all_sizes():
    jobs = Jobs()
    jobs.add("malleable", 20, range(4, 17), loop(9, compute(lambda n: 80 / n)), walltime=22)
    times, result = run(jobs, Fcfs(yields))
    assert times == [(20, 42)]
    assert result.jobs["final_state"].to_list() == ["COMPLETED_WALLTIME_REACHED"]


@pytest.mark.parametrize(
    ("walltime", "end", "state"),
    [
        ({8: 150, 4: 300}, 180, "COMPLETED_SUCCESSFULLY"),
        # 20 s are a sixth of the 120 s with 8 nodes, so five sixths of the 150 s with 4 nodes are left.
        ({8: 120, 4: 150}, 145, "COMPLETED_WALLTIME_REACHED"),
        ({8: 25, 4: math.inf}, 180, "COMPLETED_SUCCESSFULLY"),
        ({8: math.inf, 4: 100}, 120, "COMPLETED_WALLTIME_REACHED"),  # all of it is left
    ],
)
def test_a_walltime_is_kept_in_part(walltime, end, state):
    """A job of ten rounds, 10 s each with 8 nodes and 20 s with 4, which it has from 20 s on: it ends at 180 s."""
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8], loop(10, compute(lambda n: 80 / n)), walltime=walltime.get)

    def halve(view, act, job, queue):
        if view.now == 20:
            act.resize(job, 4)

    ((_, last),), result = run(jobs, Fcfs(halve))
    assert last == pytest.approx(end)
    assert result.jobs["final_state"].to_list() == [state]


def test_limits_on_nodes_and_chosen_sizes():
    jobs = Jobs()
    jobs.add("moldable", 0, range(1, 17), loop(1, compute(10)), nodes=6)
    made = jobs.workload()
    made = replace(made, jobs=made.jobs.with_columns(user=pl.lit(1, pl.Int64)))
    with pytest.raises(errors.InputError, match="user_nodes does not go with a policy that changes the sizes"):
        fb.simulate(made, NODES, "fcfs-malleable+limits:user_nodes=8")
    assert fb.simulate(made, NODES, "fcfs+limits:user_nodes=8").jobs["mean_nodes"].to_list() == [6]

    class Large(fb.Policy):
        def decide(self, view, act):
            for job in view.queue:
                act.start(job, nodes=9)

    with pytest.raises(errors.BadActionError, match="limits hold back"):
        fb.simulate(made, NODES, Limited(Large(), Limits(user_nodes=8)))


@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative-bb", "filler"])
def test_policies_that_do_not_resize_run_jobs_at_their_preferred_size(policy):
    """And pay nothing: the log is that of rigid jobs of that size."""

    def log(kind, point):
        jobs = Jobs()
        for k in range(6):
            sizes = range(2, 17) if kind != "rigid" else [3 + k]
            jobs.add(kind, 3 * k, sizes, loop(3, compute(lambda n: 40 / n), point=point), nodes=3 + k, walltime=1000)
        return fb.simulate(jobs.workload(), NODES, policy).facts["log_sha256"]

    assert len({log("rigid", True), log("malleable", True), log("malleable", False), log("moldable", True)}) == 1


@pytest.mark.parametrize("policy", ["fcfs-malleable:when=free", "fcfs-malleable:when=idle", "fcfs-easy"])
def test_a_job_of_one_size_is_a_rigid_one(policy):
    def log(kind):
        jobs = Jobs()
        for k in range(6):
            jobs.add(kind, 3 * k, [3 + k], loop(3, compute(10), move("write", 10 * GB)), walltime=1000)
        return fb.simulate(jobs.workload(), FILES, policy).facts["log_sha256"]

    assert log("malleable") == log("rigid") == log("moldable")


class Restless(Fcfs):
    """Jobs that start on any number of nodes, and get another at any point."""

    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)

    def decide(self, view, act):
        for job in view.points:
            there = [n for n in view.sizes(job) if n - view.size(job) <= act.free[0]]
            act.resize(job, self.rng.choice(there))
        for job in view.queue.tolist():
            there = [n for n in view.sizes(job) if n <= act.free[0]]
            if not there:
                break
            act.start(job, nodes=self.rng.choice(there))


@pytest.mark.parametrize("seed", range(20))
def test_work_done_over_all_sizes_is_the_work_there_was(seed):
    """Nodes times seconds, from the log, where rounds scale perfectly; and nobody has more or less than it may."""
    rng, jobs, work, bounds = random.Random(seed), Jobs(), {}, {}
    for k in range(8):
        each, rounds, low = rng.randint(1, 100), rng.randint(1, 9), rng.randint(1, 6)
        work[k], bounds[k] = each * rounds, (low, low + rng.randint(0, 10))
        jobs.add("malleable", 5 * k, range(low, bounds[k][1] + 1), loop(rounds, compute(lambda n, each=each: each / n)))
    result = fb.simulate(jobs.workload(), NODES, Restless(seed))
    done, held, since = dict.fromkeys(work, 0.0), dict.fromkeys(work, 0), dict.fromkeys(work, 0.0)
    for time, job, kind, amount in result.log.select("time", "job", "kind", "amount").rows():
        if kind in ("start", "acquire", "release", "end"):
            done[job] += held[job] * (time - since[job])
            held[job], since[job] = held[job] + (amount if kind in ("start", "acquire") else -amount), time
            assert kind == "end" or bounds[job][0] <= held[job] <= bounds[job][1]
            assert 0 <= sum(held.values()) <= 16
    assert done == pytest.approx(work, rel=1e-12)
    assert set(held.values()) == {0}


class InPairs(fb.Policy):
    """Two at a time, and the next two when both are done."""

    def decide(self, view, act):
        if not len(view.running):
            for job in view.queue.tolist()[:2]:
                act.start(job)


@pytest.mark.parametrize(
    ("order", "ends"),
    [
        # Both write 600 GB from 10 s on, at half of 10 GB/s: 10 + 120 s. Then 90 s of work and 2 x 100 GB: 20 s.
        ("data data work work", [130, 130, 240, 240]),
        # Each writes alone: the one from 10 s to 70 s, the other from 90 s to 100 s.
        ("data work data work", [70, 100, 170, 200]),
    ],
)
def test_jobs_that_write_beside_jobs_that_compute(order, ends):
    """Fig. 4.6 of ADMIRE D3.3: four jobs in pairs, alike or mixed. Mixed, all is over 40 s earlier."""
    jobs = Jobs()
    for kind in order.split():
        seconds, amount = (10, 600 * GB) if kind == "data" else (90, 100 * GB)
        jobs.add("rigid", 0, [8], loop(1, compute(seconds), move("write", amount)))
    times, _ = run(jobs, InPairs(), "flat:nodes=16,pfs=10GB/s")
    assert [end for _, end in times] == pytest.approx(ends)


WRONG = {
    "out of its sizes": (lambda act: act.resize(0, 5), ["5 nodes", "view.sizes"]),
    "of a rigid job": (lambda act: act.resize(1, 2), ["job 1", "malleable"]),
    "on nodes that are not free": (lambda act: act.resize(0, 16), ["16 nodes, 8 more", "act.free[0]"]),
    "of a job that waits": (lambda act: act.resize(2, 4), ["job 2", "does not run"]),
    "to nothing": (lambda act: act.resize(0, 0), ["0 as a number"]),
    "of nobody": (lambda act: act.resize(77, 4), ["row 77"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_change_is_refused(name):
    act_wrongly, words = WRONG[name]
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8, 16], loop(2, compute(10)), nodes=8)
    jobs.add("rigid", 0, [4], loop(1, compute(30)))
    jobs.add("rigid", 0, [16], loop(1, compute(30)))

    class Small(Fcfs):
        def decide(self, view, act):
            if view.now == 0:
                act.start(0)
                act.start(1)
            elif view.points:
                act_wrongly(act)

    with pytest.raises(errors.PolicyError) as raised:
        run(jobs, Small())
    for word in words:
        assert word in str(raised.value)


def test_a_policy_that_resizes_says_so():
    class Silent(Fcfs):
        resizes = False

        def decide(self, view, act):
            for job in view.queue:
                act.start(job)
            if len(view.running):
                act.resize(0, 4)

    jobs = Jobs()
    jobs.add("malleable", 0, [4, 8], loop(2, compute(10)))
    jobs.add("rigid", 5, [4], loop(1, compute(30)))
    with pytest.raises(errors.BadActionError, match="resizes = True"):
        run(jobs, Silent())


def test_nodes_can_be_named():
    """At its point a job moves from nodes 0..7 to 2, 3 and 9; those it leaves are taken in the same decision."""
    jobs = Jobs()
    jobs.add("malleable", 0, [3, 8], loop(2, compute(10)))
    jobs.add("rigid", 5, [6], loop(1, compute(30)))

    class Named(Fcfs):
        def decide(self, view, act):
            if view.now == 0:
                act.start(0, nodes=range(8))
            elif view.points:
                act.resize(0, nodes=[9, 3, 2])
                act.start(1, nodes=[0, 1, 4, 5, 6, 7])

    times, result = run(jobs, Named(), "flat:nodes=10")
    assert times == [(0, 20), (10, 40)]
    assert result.jobs["allocated_resources"].to_list() == ["0-7 9", "0-1 4-7"]
    assert resizes(result) == [(10, 0, 1), (10, 0, -6)]
    rows = result.log.with_row_index("row").filter(pl.col("reason") == "resized").select("row", "kind")
    moved = rows.join(result.placements.with_columns(pl.col("row").cast(pl.UInt32)), on="row").sort("row", "low")
    assert moved.select("kind", "low", "high").rows() == [
        ("acquire", 9, 9), ("release", 0, 1), ("release", 4, 7)
    ]  # fmt: skip


@pytest.mark.parametrize("nodes", [[0, 1, 2], [0, 1, 11], [0, 0, 1], [0, 1, -1], []])
def test_wrong_names_are_refused(nodes):
    """Away from its point (at 5), a job keeps what it has; node 11 is not there."""
    jobs = Jobs()
    jobs.add("malleable", 0, [3, 8], loop(2, compute(10)))
    jobs.add("rigid", 5, [2], loop(1, compute(30)))

    class Named(Fcfs):
        def decide(self, view, act):
            if view.now == 0:
                act.start(0)
            else:
                act.resize(0, nodes=nodes)

    with pytest.raises(errors.PolicyError):
        run(jobs, Named(), "flat:nodes=10")
