"""Random rules of a site, tight enough to bind, and jobs of accounts and QOS."""

import dataclasses
import random

import polars as pl

from twins.site import WHO


def with_accounts(w, seed):
    """The same jobs, each of an account and a QOS; some of neither, and some of no known user."""
    rng = random.Random(f"accounts {seed}")

    def column():
        return pl.Series([rng.choice((-1, 0, 1, 1, 2)) for _ in range(len(w))], dtype=pl.Int64)

    user = pl.col("user")
    jobs = w.jobs.with_columns(account=column(), qos=column(), user=pl.when(user == 3).then(-1).otherwise(user))
    return dataclasses.replace(w, jobs=jobs)


def rules(seed, platform):
    """One to four rules, each for all jobs or some, with one to three limits."""
    rng = random.Random(f"rules {seed}")
    names = [("node" if name == "nodes" else name, size) for name, size in platform.finite.items()]

    def tres(factor=1):
        some = rng.sample(names, rng.randint(1, min(2, len(names))))
        return ",".join(f"{name}={factor * max(1, int(size * rng.choice((0.3, 0.6, 1.0))))}" for name, size in some)

    limits = {
        "GrpJobs": lambda: rng.randint(1, 4),
        "GrpSubmit": lambda: rng.randint(2, 6),
        "GrpTRES": tres,
        "GrpTRESRunMins": lambda: tres(rng.choice((1, 2))),
        "MaxJobsPerUser": lambda: rng.randint(1, 3),
        "MaxSubmitPerUser": lambda: rng.randint(1, 4),
        "MaxTRESPerUser": tres,
        "MaxJobsPerAccount": lambda: rng.randint(0, 3),
        "MaxSubmitPerAccount": lambda: rng.randint(2, 5),
        "MaxTRESPerAccount": tres,
        "MaxTRESPerJob": tres,
        "MaxWall": lambda: rng.choice((10.0, 15.0, 40.0)),
    }
    made = []
    for _ in range(rng.randint(1, 4)):
        who = {key: str(rng.randint(0, 2)) for key in rng.sample(WHO, rng.choice((0, 1, 1, 1, 2)))}
        made.append(who | {key: limits[key]() for key in rng.sample(sorted(limits), rng.randint(1, 3))})
    later = random.Random(f"again {seed}")
    return [
        rule | ({"over_submit": "wait"} if any("Submit" in key for key in rule) and later.random() < 0.6 else {})
        for rule in made
    ]


def reservations(seed):
    """One to three of all nodes, some of them for users; they may overlap."""
    rng = random.Random(f"reservations {seed}")
    made = []
    for _ in range(rng.randint(1, 3)):
        start = float(rng.randint(1, 120))
        users = {"users": tuple(sorted(rng.sample("012", rng.randint(1, 2))))} if rng.random() < 0.5 else {}
        made.append({"start": start, "end": start + rng.choice((5.0, 20.0, 41.5)), **users})
    return made
