"""Which jobs go before others because a partition of theirs has a higher priority tier."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay.results import Result


class Ranks(NamedTuple):
    """By row of the job table: its tier, and the partition that has it; all alike where tiers do not differ."""

    tier: np.ndarray  # int64
    partition: list[str]


def ranks_of(result: Result) -> Ranks:
    """The highest tier among the partitions that each job names, or that of the default one."""
    facts = result.facts.get("platform")
    partitions: list[dict[str, Any]] = facts.get("partitions", []) if isinstance(facts, dict) else []
    tiers = {one["name"]: int(one.get("priority_tier", 1)) for one in partitions}
    n = result.jobs.height
    if len(set(tiers.values())) < 2:
        return Ranks(np.zeros(n, np.int64), [""] * n)
    default = next((one["name"] for one in partitions if one.get("default")), next(iter(tiers)))
    name = "queue_name" if "queue_name" in result.jobs.columns else "queue"
    queues = result.jobs[name].cast(pl.String).fill_null(default)
    best = {queue: _highest(queue, tiers, default) for queue in queues.unique().to_list()}
    names = [best[queue] for queue in queues.to_list()]
    return Ranks(np.array([tiers[one] for one in names], np.int64).reshape(n), names)


def _highest(queue: str, tiers: dict[str, int], default: str) -> str:
    mine = [word.strip() for word in queue.split(",") if word.strip() in tiers]
    return max(mine, key=lambda word: tiers[word]) if mine else default
