"""How far the policy slurm is from what a real Slurm did with the same jobs."""

from pathlib import Path

import polars as pl

import forebay as fb
from forebay.workload.workload import job_table

RECORDED = Path(__file__).with_name("recorded")
NODES, LICENSES = 8, 10


def read(name):
    """What was recorded under a setting and seed, such as nodes-1."""
    times = dict.fromkeys(("submit", "start", "end"), pl.Float64)
    return pl.read_csv(RECORDED / f"{name}.csv", schema_overrides={"allocated": pl.String} | times)


def cycles(name):
    """When Slurm's schedulers ran, and which."""
    return pl.read_csv(RECORDED / f"{name}-cycles.csv").rows()


def simulated(recorded, policy, machine=f"flat:nodes={NODES},burst_buffer={LICENSES}B"):
    """The starts of the same jobs under a policy: each is submitted when it was, and runs as long as it did."""
    asked = {"nodes": recorded["nodes"], "run_time": (recorded["end"] - recorded["start"]).cast(pl.Float64)}
    for name in ("id", "cores", "exclusive"):
        asked |= {name: recorded[name]} if name in recorded.columns else {}
    for name in ("submit", "walltime"):
        asked[name] = recorded[name].cast(pl.Float64)
    if "licenses" in recorded.columns:
        asked["burst_buffer"] = recorded["licenses"]
    names = {}
    for column, name in (("queue", "queue"), ("qos", "qos"), ("feature", "features")):
        if column in recorded.columns:
            words = sorted(set(recorded[column].drop_nulls()) - {""})
            codes = {word: code for code, word in enumerate(words)}
            asked[name] = [codes.get(word, -1) for word in recorded[column]]
            names[name] = dict(enumerate(words))
    result = fb.simulate(fb.Workload("recorded", job_table(asked), names=names), machine, policy)
    return result.jobs.sort("job_id")["starting_time"].to_numpy()


def concordance(real, ours):
    """Of the pairs of jobs that really start more than 2 s apart, the part that starts in the same order here."""
    alike = pairs = 0
    for i in range(len(real)):
        apart = abs(real - real[i]) > 2
        pairs += int(apart.sum())
        alike += int((((real - real[i]) * (ours - ours[i])) > 0)[apart].sum())
    return alike / pairs


def one_by_one(recorded, cycles=None, machine=None, **options):
    """Seconds from each job's real start to the one that the policy would choose, all else as it was; NaN = none."""
    from real_slurm.forced import Forced

    real = recorded["start"].to_numpy().astype(float)
    policy = Forced(real, recorded["allocated"], cycles, **options)
    simulated(recorded, policy, *[machine] if machine else [])
    return policy.wanted - real


def in_step(recorded, cycles, machine=None, **options):
    """Seconds from each job's real start to ours, in a run by itself whose schedulers run when the real ones did."""
    from real_slurm.forced import Timed

    starts = simulated(recorded, Timed(cycles, **options), *[machine] if machine else [])
    return starts - recorded["start"].to_numpy()
