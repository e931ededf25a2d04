"""What a site's partitions say of jobs: whose nodes are not shared, and which name a partition that does not exist."""

from dataclasses import replace

import polars as pl

from forebay._support.text import counted
from forebay.core.schemas import UNKNOWN
from forebay.errors import listed
from forebay.slurm.machine import plain
from forebay.slurm.site import Site
from forebay.workload import Workload


def of_site(workload: Workload, site: Site) -> tuple[Workload, list[str]]:
    """The jobs as the site treats them, and remarks. A job that names several partitions goes by the first."""
    queues = workload.names.get("queue", {})
    if "queue" not in workload.jobs.columns or not queues:
        return workload, []
    called = {number: [plain(word) for word in name.split(",")] for number, name in queues.items()}
    known = {plain(name): partition for name, partition in site.partitions.items()}
    missing = [number for number, words in called.items() if not any(word in known for word in words)]
    apart = [number for number, words in called.items() if words[0] in known and known[words[0]].exclusive]
    lost = workload.jobs.filter(pl.col("queue").is_in(missing))
    notes = []
    if len(lost):
        names = [queues[number] for number in missing if number in set(lost["queue"])]
        notes.append(f"{counted(len(lost), 'job names', 'jobs name')} partitions that the site lacks: {listed(names)}")
    alone = int(workload.jobs["queue"].is_in(apart).sum())
    if not alone:
        return workload, notes
    said = pl.col("exclusive") if "exclusive" in workload.jobs.columns else pl.lit(UNKNOWN["exclusive"], pl.Int64)
    marked = pl.when(pl.col("queue").is_in(apart)).then(pl.lit(1, pl.Int64)).otherwise(said).alias("exclusive")
    notes.append(f"nodes to themselves, by OverSubscribe=EXCLUSIVE: {counted(alone, 'job')}")
    return replace(workload, jobs=workload.jobs.with_columns(marked)), notes
