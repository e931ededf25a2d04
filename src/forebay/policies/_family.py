"""The parameters that queue policies share. A policy of the family is a few numbers: see its own file."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy
from forebay.policies._orders import ALL, ORDERS


@dataclass(frozen=True)
class Backfill(Policy):
    """Backfilling with any number of reservations on any resources."""

    order: str = "arrival"  # which job is the head of the queue
    descending: bool = False  # whether a larger value of `order` goes first
    backfill_order: str = "as-queued"  # in which order jobs may pass the head
    depth: int = 1  # how many waiting jobs hold a reservation
    max_backfill: int = ALL  # how many jobs behind the head are looked at
    reserve: str = "all"  # what a reservation holds: "nodes", or "all" resources
    reservations: str = "counted"  # "pinned" fixes a reservation's nodes and servers, "counted" their number

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        for name in ("depth", "max_backfill"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 0 up, or 'all'")
        for name, known in (
            ("order", ORDERS),
            ("backfill_order", ("as-queued", *ORDERS[1:])),
            ("reserve", ("nodes", "all")),
            ("reservations", ("counted", "pinned")),
        ):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: {nearest(getattr(self, name), known)}")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        second = 0 if self.backfill_order == "as-queued" else ORDERS.index(self.backfill_order)
        reserved = 1 if self.reserve == "nodes" else ALL
        row = (ORDERS.index(self.order), self.descending, second, self.depth, self.max_backfill, reserved)
        return np.array([*row, self.reservations == "pinned"], dtype=np.float64)

    def kernel(self) -> Any:
        """The one kernel of the family."""
        from forebay.policies._backfill import backfill

        return backfill
