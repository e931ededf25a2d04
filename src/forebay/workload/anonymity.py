"""A workload that can be shared: whose jobs they were, when and where is taken away; what a run depends on stays."""

import hashlib
import re

import numpy as np
import polars as pl

from forebay.core.schemas import INSIDE, JOB_SCHEMA, MORE, NAMED, WHO
from forebay.errors import InputError
from forebay.workload._source import in_order
from forebay.workload.dependencies import renumbered
from forebay.workload.workload import Workload

_NAME = "anonymous"
_LINE = "anonymised: users, groups and queues numbered at random, jobs by submission; no date, source, notes or history"
_PARENTS = ("array", "het")  # numbers of jobs at the site
_KINDS = {"gpu": "types of GPUs", "features": "features of nodes"}


def anonymise(w: Workload, seed: int = 0) -> Workload:
    """The same jobs, of nobody: users, groups and queues are numbered 1.. in a random order, jobs in that of arrival.

    So are accounts, qualities of service and arrays, and none has a name; types of GPUs and features of nodes keep
    theirs. There is no date, no name or digest of the source, no note and no earlier provenance; nor a platform that is
    a file.
    """
    if seed < 0:
        raise InputError(f"the seed is {seed}; give a whole number from 0 up")
    rng = draws_of(w, seed)
    jobs, _ = in_order(w.jobs)
    old, new = jobs["id"], pl.Series("id", np.arange(1, len(jobs) + 1))
    jobs = jobs.with_columns(new, *(_shuffled(jobs[name], rng) for name in (*WHO, *_PARENTS) if name in jobs.columns))
    legs, phases = (None if table is None else _renumbered(table, old, new) for table in (w.legs, w.phases))
    jobs = jobs.drop(w.own)  # what they reveal is not known
    notes = [] if w.platform == _machine(w.platform) else ["the platform is a file: its name is taken away"]
    notes += [f"columns of its author's own are taken away: {', '.join(w.own)}"] if w.own else []
    named = [
        name for name in w.resources if name not in ("burst_buffer", *INSIDE) and not re.match(r"resource_\d", name)
    ]
    if named:
        notes.append(f"names of resources are kept: {', '.join(named)}")
    # Without them it is not known where jobs may run: they are of machines, not of persons.
    kept = {name: called for name, called in w.names.items() if name not in WHO}
    for name, called in kept.items():
        notes.append(f"names of {_KINDS[name]} are kept: {', '.join(sorted(called.values()))}")
    return Workload(
        name=_NAME,
        jobs=jobs,
        legs=legs,
        phases=phases,
        applications=w.applications and w.applications.renumbered(old, new),
        platform=_machine(w.platform),
        records=len(jobs),
        notes=tuple(notes),
        provenance=(_LINE,),
        names=kept,
        dependencies=renumbered(w.dependencies, old, new),
    )


def draws_of(w: Workload, seed: int = 0) -> np.random.Generator:
    """Draws that depend on the seed and on what is taken away.

    Of the seed alone (0, mostly), anyone could draw the same order again and undo it.
    """
    secret = hashlib.sha256(f"{w.name} {w.epoch} {w.sha256}".encode())
    for name in ("id", *NAMED):
        if name in w.jobs.columns:
            secret.update(w.jobs[name].to_numpy().astype("<i8").tobytes())
    for column, names in w.names.items():
        secret.update(f"{column} {sorted(names.items())}".encode())
    return np.random.default_rng([seed, int.from_bytes(secret.digest(), "big")])


def _shuffled(who: pl.Series, rng: np.random.Generator) -> pl.Series:
    """Numbers 1, 2, ... for those that are known, in a random order."""
    known = who.filter(who >= 0).unique().sort()
    dtype = (JOB_SCHEMA | MORE)[who.name]
    numbers = pl.Series(rng.permutation(len(known)) + 1, dtype=dtype)
    return who.replace_strict(known, numbers, default=-1, return_dtype=dtype)


def _renumbered(table: pl.DataFrame, old: pl.Series, new: pl.Series) -> pl.DataFrame:
    """Rows in the order of their new numbers: that of the old ones would tell of these."""
    known = table.filter(pl.col("job").is_in(old.implode()))
    return known.with_columns(pl.col("job").replace_strict(old, new)).sort("job", maintain_order=True)


def _machine(platform: str | None) -> str | None:
    """A platform spec, unless it names a file."""
    return platform if platform is None or re.fullmatch(r"[\w-]+(:[^\\]*)?", platform) else None
