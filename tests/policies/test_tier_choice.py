"""The choice of one waiting job on a machine in the middle of work, against the formula written out."""

import math
import random

import pytest

import forebay
from cases.chunks import chunks, uncompiled
from cases.tiered import NAMES, machine, workload

CHUNKS, CHUNK = 10, 100


class State:
    """Some running jobs and one that comes last: all numbers are whole, all rates powers of two, so ties are ties.

    Jobs only compute, for exactly their walltime; the bytes that a policy sees are what users say. So with slots of a
    walltime whatever is expected comes true, and a job that waits gets what it chose.
    """

    def __init__(self, seed):
        rng = random.Random(f"state {seed}")
        self.slow = 2 ** rng.randint(0, 3)
        self.fast = [
            (rng.randint(5, 40), self.slow * rng.choice((1, 2, 4, 16)), self.slow * rng.choice((0.5, 1, 2, 4)))
            for _ in range(rng.choice((1, 1, 2, 3)))
        ]
        self.nodes = rng.randint(2, 8)
        self.now = rng.randint(1, 60)
        self.slot = rng.choice(("walltime", "stay"))
        most = max(1, self.nodes // 3)  # so that they seldom wait
        self.jobs = [self.job(rng, i, rng.randint(0, self.now - 1), most) for i in range(1, rng.randint(2, 6))]
        self.last = self.job(rng, 99, self.now, self.nodes)
        self.jobs.append(self.last)

    def job(self, rng, number, submit, most):
        row = {"id": number, "submit": float(submit), "nodes": rng.randint(1, most)}
        row["walltime"] = float(rng.randint(1, 120))
        row |= {name: rng.randint(0, size + 3) for name, (size, _, _) in zip(NAMES, self.fast, strict=False)}
        volumes = (rng.choice((0, 1, rng.randint(0, 30))) * self.slow for _ in range(3))
        return row | dict(zip(("told_input", "told_output", "told_data"), volumes, strict=True))

    def run(self):
        platform = machine(self.nodes, self.slow, *self.fast)
        policy = f"sas:slot={self.slot}"
        result = forebay.simulate(workload(self.jobs), platform, policy, job_model="tiered")
        return {row["job_id"]: row for row in result.jobs.to_dicts()}

    def stay(self, job, tier):
        """Walltime + staging + what the nodes' transfers take more or less than on slow storage."""
        if tier == "slow":
            return job["walltime"]
        _, rate, stage = self.fast[NAMES.index(tier)]
        ends = job["told_input"] + job["told_output"]
        return job["walltime"] + ends / stage + (ends + job["told_data"]) * (1 / rate - 1 / self.slow)

    def earliest(self, running, nodes, tier, request):
        """When so many nodes and bytes are free at once; from then on they stay so, for nobody else waits.

        `running` has (expected end, nodes, tier, request).
        """
        for time in sorted({self.now, *(end for end, *_ in running)}):
            held = [row for row in running if row[0] > time]
            free_nodes = self.nodes - sum(row[1] for row in held)
            free_bytes = math.inf
            if tier != "slow":
                free_bytes = self.fast[NAMES.index(tier)][0] - sum(row[3] for row in held if row[2] == tier)
            if nodes <= free_nodes and request <= free_bytes:
                return time
        raise AssertionError("it fits on the empty machine")

    def choice(self, found):
        """(tier, time) for the last job, when those before it run as `found` says."""
        running = []
        for job in self.jobs[:-1]:
            row = found[job["id"]]
            if row["starting_time"] <= self.now < row["finish_time"]:
                tier = row["tier"]
                length = job["walltime"] if self.slot == "walltime" else self.stay(job, tier)
                end = row["starting_time"] + length
                request = 0 if tier == "slow" else job[tier]
                running.append((end if end > self.now else self.now + 1, job["nodes"], tier, request))
        best = None
        for tier in ("slow", *NAMES[: len(self.fast)]):
            request = 0 if tier == "slow" else self.last[tier]
            if tier != "slow" and not 0 < request <= self.fast[NAMES.index(tier)][0]:
                continue
            time = self.earliest(running, self.last["nodes"], tier, request)
            turnaround = time - self.now + self.stay(self.last, tier)
            if best is None or turnaround < best[0]:
                best = (turnaround, tier, time)
        return best[1:]


def check(seed):
    """Compare one state; returns None where a job before the last one waits too, else how it was chosen."""
    state = State(seed)
    found = state.run()
    row = found[99]
    if any(found[job["id"]]["starting_time"] > state.now for job in state.jobs[:-1]):
        return None
    tier, time = state.choice(found)
    where = (seed, state.slot, tier, time)
    if time == state.now or state.slot == "walltime":
        assert (row["tier"], row["starting_time"]) == (tier, time), where
    else:
        assert row["starting_time"] > state.now, where
    return tier == "slow", time == state.now, state.slot


def check_states(first, count):
    """`count` states from a seed on; returns in how many ways they were chosen."""
    ways, seed, n = set(), first, 0
    while n < count:
        way = check(seed)
        seed += 1
        if way is not None:
            ways.add(way)
            n += 1
    return ways


@uncompiled
@pytest.mark.parametrize("part", range(4))
def test_choice_of_a_waiting_job_small(part):
    check_states(1000 * part, 12)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_choice_of_a_waiting_job(chunk):
    """Each hundred has all ways to choose: slow or fast, now or later, with slots of either kind."""
    assert len(check_states(100_000 + 10_000 * chunk, CHUNK)) == 8
