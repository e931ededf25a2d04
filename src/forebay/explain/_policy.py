"""What is known of the policy of a run: in which order jobs go, and whether those in front hold reservations."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.errors import ForebayError
from forebay.policies import load, names
from forebay.policies._families.backfill import Backfill
from forebay.policies._limited import apart
from forebay.results import Result


@dataclass(frozen=True)
class Front:
    """Who goes first among the jobs that wait."""

    by_start: bool = True  # who starts next: the policy's order is not known
    reserves: str = ""  # what those in front hold reserved: "nodes", "all", or "" where they do not
    order: str = "arrival"
    descending: bool = False

    def line(
        self, jobs: dict[str, np.ndarray], waits: np.ndarray, needs: np.ndarray, submitted: np.ndarray
    ) -> np.ndarray:
        """The waits in order: first jobs that have begun and wait again, then the others by tier, key and id."""
        job = waits["job"]
        walltime = jobs["requested_time"][job]
        walltime = np.where(walltime < 0, np.inf, walltime)
        keys: dict[str, Any] = {
            "arrival": waits["first"],  # of jobs that wait for others, when these were done
            "walltime": walltime,
            "nodes": needs[:, 0],
            "area": np.where(needs[:, 0] > 0, np.where(needs[:, 0] > 0, needs[:, 0], 1) * walltime, 0.0),
        }
        key = keys[self.order] if self.order in keys else jobs[self.order][job]
        key = np.where(submitted, -key if self.descending else key, 0.0)
        ties = job if self.order == "arrival" else jobs["id"][job]
        tier = np.where(submitted, -jobs["tier"][job], 0)
        order: np.ndarray = np.lexsort((np.where(submitted, ties, waits["first"]), key, tier, submitted))
        return order


def front_of(result: Result) -> Front:
    """Of a policy that sorts its queue, how; of others, all that is known is which starts next."""
    spec = str(result.facts.get("spec", result.facts.get("policy", "")))
    # A policy of someone's own is not loaded: that would run their code.
    if re.split("[:+]", spec, maxsplit=1)[0] not in names():
        return Front()
    try:
        policy, _ = apart(load(spec))
    except ForebayError:
        return Front()
    if not isinstance(policy, Backfill):
        return Front()
    return Front(False, policy.reserve if policy.depth > 0 else "", policy.order, policy.descending)
