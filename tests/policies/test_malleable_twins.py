"""mebf and io-intensity decide as their naive twins do, on random workloads."""

import math
import random

import pytest

import forebay as fb
from cases.chunks import chunks, interpreted
from cases.flexible import Jobs, compute, loop, move, stage
from twins import intensity, mebf

NODES = 16


def workload(seed):
    """Up to a dozen jobs of all kinds, with work, transfers and priorities that hardly ever tie."""
    rng = random.Random(f"malleable {seed}")
    jobs, submit = Jobs(), 0.0
    for _ in range(rng.choice((2, 5, 8, 12))):
        kind = rng.choice(("rigid", "moldable", "malleable", "malleable", "malleable", "evolving", "adaptive"))
        sizes = sorted(rng.sample(range(1, NODES + 1), 1 if kind == "rigid" else rng.randint(2, 8)))
        work, amount = rng.uniform(10, 2000), rng.choice((0.0, rng.uniform(1e9, 400e9)))
        wants = [(over, n, rng.choice(sizes)) for over in range(9) for n in sizes]
        rounds = loop(
            rng.randint(1, 9),
            compute(lambda n, work=work: work / n),
            move("write", amount),
            requests=lambda _, wants=wants: wants,
        )
        parts = [rounds, stage("reconfiguration", compute(rng.uniform(0, 20)))]
        walltime = rng.choice((math.inf, lambda n, work=work: 9 * work / n * 1.7 + 60, 500.0))
        jobs.add(kind, submit, sizes, *parts, nodes=rng.choice(sizes), walltime=walltime)
        jobs.rows[-1]["priority"] = float(rng.choice((0, rng.randint(0, 9))))
        submit += rng.choice((0.0, rng.uniform(0, 60)))
    return jobs.workload()


def same(made, spec, naive):
    """The compiled policy and its twin leave the same record."""
    machine = "flat:nodes=16,pfs=10GB/s"
    ours, theirs = (fb.simulate(made, machine, policy, job_model="application:kill=false") for policy in (spec, naive))
    assert ours.log.select("time", "job", "kind", "amount").equals(theirs.log.select("time", "job", "kind", "amount"))
    return ours


@pytest.mark.small
@pytest.mark.parametrize("block", [*interpreted(range(3), (0,)), *chunks(3, 6)[3:]])
def test_io_intensity(block):
    for seed in range(10 * block, 10 * block + 10):
        alpha = (0.0, 0.2, 0.4, 0.6, 1.0)[seed % 5]
        kind = ("mean", "cluster")[seed // 5 % 2]
        same(workload(seed), f"io-intensity:alpha={alpha},workload={kind}", intensity.Naive(alpha, kind))
        same(workload(seed), f"io-intensity-adaptive:alpha={alpha}", intensity.Naive(alpha, adaptive=True))
        spec = f"io-intensity:alpha={alpha},candidates=fitting"
        same(workload(seed), spec, intensity.Naive(alpha, fitting=True))


@pytest.mark.small
@pytest.mark.parametrize("block", [*interpreted(range(3), (0,)), *chunks(3, 6)[3:]])
def test_mebf(block):
    for seed in range(10 * block, 10 * block + 10):
        recorded, guard = bool(seed % 2), bool(seed // 2 % 2)
        spec = f"mebf:times={'recorded' if recorded else 'walltime'},guard={str(guard).lower()},alpha=3"
        same(workload(seed), spec, mebf.Naive(alpha=3.0, recorded=recorded, guard=guard))
        pools = {"low": range(5), "high": range(3, 10), "minimum": guard}
        spec = f"mebf:low_r=0-4,high_r=3-9,backfill={'minimum' if guard else 'preferred'}"
        same(workload(seed), spec, mebf.Naive(**pools))


@pytest.mark.parametrize("block", [pytest.param(k, marks=pytest.mark.full) for k in range(10)])
def test_three_hundred_more(block):
    for seed in range(1000 + 30 * block, 1030 + 30 * block):
        made, alpha = workload(seed), random.Random(seed).random()
        same(made, f"io-intensity:alpha={alpha}", intensity.Naive(alpha))
        same(made, "mebf:times=recorded", mebf.Naive(recorded=True))
        same(made, "mebf:sharing_factor=0.4,gamma=1.6", mebf.Naive(sharing_factor=0.4, gamma=1.6))
