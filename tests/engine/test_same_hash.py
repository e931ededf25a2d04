"""The same inputs and seed leave the same log, bit by bit: alone, in threads, in processes, compiled or not."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import forebay
from cases import pooled, transfers

POLICIES = ("fcfs", "sjf-bb", "conservative-bb", "priority:order=area,depth=3")
PINNED = "fcfs-bb:reservations=pinned"
SCRIPT = """
import forebay
from cases import pooled, transfers
for seed in (1, 2):
    for policy in {policies!r}:
        print(forebay.simulate(*pooled.make(seed), policy).facts["log_sha256"])
    print(forebay.simulate(*transfers.make(seed), {pinned!r}, job_model="io-aware").facts["log_sha256"])
"""


class Dice:
    """Starts what fits in random order: its log depends on the seed and on nothing else."""

    def decide(self, view, act):
        for job in view.rng.permutation(view.queue):
            if act.fits(job):
                act.start(job)


def log_hash(policy, workload_seed=1, seed=0):
    return forebay.simulate(*pooled.make(workload_seed, legs=False), policy, seed=seed).facts["log_sha256"]


def hashes():
    found = []
    for seed in (1, 2):
        found += [forebay.simulate(*pooled.make(seed), policy) for policy in POLICIES]
        found.append(forebay.simulate(*transfers.make(seed), PINNED, job_model="io-aware"))
    return [result.facts["log_sha256"] for result in found]


def in_process(**environment):
    """The same hashes from a process of its own."""
    env = os.environ | {"PYTHONPATH": str(Path(pooled.__file__).parents[1])} | environment
    command = [sys.executable, "-c", SCRIPT.format(policies=POLICIES, pinned=PINNED)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


@pytest.mark.small
def test_again():
    first = hashes()
    assert hashes() == first
    assert len(set(first)) > len(POLICIES)  # different inputs leave different logs, or the test proves nothing


@pytest.mark.small
def test_seed_reaches_the_policy():
    """Same seed, same dice; another seed, other dice; and a policy that throws none does not care."""
    assert log_hash(Dice(), seed=3) == log_hash(Dice(), seed=3)
    assert len({log_hash(Dice(), seed=seed) for seed in range(5)}) > 1
    assert log_hash("fcfs-bb", seed=3) == log_hash("fcfs-bb", seed=4)


def test_four_threads():
    alone = hashes()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: hashes(), range(4)))
    assert together == [alone] * 4


def test_processes_compiled_or_not():
    """Two compiled processes at once, and one with the compiler off."""
    alone = hashes()
    processes = [in_process(), in_process(), in_process(NUMBA_DISABLE_JIT="1")]
    printed = [process.communicate(timeout=300)[0].split() for process in processes]
    assert printed == [alone] * 3
