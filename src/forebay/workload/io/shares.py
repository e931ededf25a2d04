"""How much of their time jobs spend in I/O, as those who know a queue or a user say."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from forebay._plugins import assignments
from forebay.core.units import parse_bytes
from forebay.errors import InputError, brief
from forebay.workload import operations
from forebay.workload.workload import Workload

_FORM = "'queue=gpu:0.2', 'user=17:0.1,spread=0.5' or 'all:0.1,node=2GB,pfs=25GB'"


@dataclass(frozen=True)
class Share:
    """Of some jobs: the mean share of their time in I/O, how far single jobs may be from it, and bytes a second."""

    who: str
    mean: float
    spread: float = 0.5
    node: float = 2e9
    pfs: float = 25e9

    def __post_init__(self) -> None:
        if not (self.mean >= 0 and 0 <= self.spread <= 1 and self.mean * (1 + self.spread) <= 1):
            raise InputError(
                f"share {self.who}:{self.mean:g}: shares are from 0 to 1, and so is the spread; the largest, "
                f"{self.mean:g} x (1 + {self.spread:g}), must not exceed 1"
            )
        if not (self.node > 0 and self.pfs > 0):
            raise InputError(f"share {self.who}: node and pfs are bytes a second; give numbers above 0")

    def members(self, workload: Workload) -> np.ndarray:
        """Which jobs it is of."""
        if self.who == "all":
            return np.ones(len(workload), bool)
        key, _, name = self.who.partition("=")
        known = operations.parse_condition(f"{key}=={name}", workload.jobs.schema, workload.names)
        found: np.ndarray = workload.jobs.select(known.fill_null(False)).to_series().to_numpy()
        if not found.any():
            raise InputError(f"share {self.who}: {workload.name} has no such job")
        return found

    def bytes_of(self, jobs: pl.DataFrame, rng: np.random.Generator) -> np.ndarray:
        """What each job moves: shares are uniform around their mean, and bytes flow as on an idle file system."""
        share = self.mean * (1 + self.spread * rng.uniform(-1.0, 1.0, len(jobs)))
        moved: np.ndarray = np.rint(share * jobs["run_time"].to_numpy() * self.rates(jobs))
        return moved

    def rates(self, jobs: pl.DataFrame) -> np.ndarray:
        """Bytes a second of each job alone."""
        found: np.ndarray = np.minimum(self.node * jobs["nodes"].to_numpy(), self.pfs)
        return found


def parse_share(text: str) -> Share:
    """A share as the command line has it: WHO:SHARE, then spread, node and pfs if wanted."""
    who, colon, rest = text.strip().rpartition(":")
    first, _, more = rest.partition(",")
    try:
        mean = float(first)
    except ValueError:
        mean = -1.0
    if not colon or mean < 0 or (who != "all" and not all(who.partition("="))):
        raise InputError(f"--share {brief(text)} is not WHO:SHARE; write {_FORM}")
    given: Mapping[str, str] = assignments(more, text, _FORM)
    unknown = [key for key in given if key not in ("spread", "node", "pfs")]
    if unknown:
        raise InputError(f"--share {brief(text)}: no parameter {unknown[0]!r}; there are spread, node and pfs")
    try:
        spread = float(given.get("spread", 0.5))
    except ValueError:
        raise InputError(f"--share {brief(text)}: spread={brief(given['spread'])} is not a number") from None
    return Share(who, mean, spread, *(float(parse_bytes(given.get(key, default))) for key, default in _RATES.items()))


_RATES = {"node": "2GB", "pfs": "25GB"}
