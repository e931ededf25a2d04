"""The parameters that queue policies share. A policy of the family is a few numbers: see its own file."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.core.atoms import set_apart
from forebay.core.kinds import large_of
from forebay.core.shapes import shape
from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._orders import ALL, ORDERS

if TYPE_CHECKING:
    from forebay.core.tables import State


class Param(IntEnum):
    """What the kernel reads, by place."""

    ORDER = 0
    DESCENDING = 1
    BACKFILL_ORDER = 2
    DEPTH = 3
    MAX_BACKFILL = 4
    RESERVED = 5  # how many resources a reservation holds, nodes first
    PINNED = 6


def refuse_pinned(reservations: str, resources: tuple[str, ...]) -> None:
    """Refuse pinned reservations where nodes are not all alike: they would pin the lowest nodes, whatever they are."""
    if reservations == "pinned" and set_apart(resources) < len(resources):
        raise InputError(
            "reservations is 'pinned', but this machine has classes or partitions of nodes, which are only counted; "
            "write reservations=counted, or leave them out in the platform"
        )
    if reservations == "pinned" and large_of(resources) >= 0:
        raise InputError(
            "reservations is 'pinned', but this machine has nodes of two kinds, which are only counted; "
            "write reservations=counted, or leave out large in the platform"
        )
    if reservations == "pinned" and resources[0] == "cores":
        raise InputError(
            "reservations is 'pinned', but this machine shares its nodes, and these pin whole ones; write "
            "reservations=counted, or sharing = false in the platform"
        )


def index_shape(n_jobs: int, n_resources: int, shared: bool, order: int = 0) -> tuple[int, int]:
    """Rows and columns of an index over the queue in an order: see _kernels.queue.index."""
    from forebay.algorithms.queues.forest import N_COLUMNS, N_INSIDE, n_rows
    from forebay.policies._kernels.queue.keys import n_key_columns

    return n_rows(2 * n_jobs + 16), N_COLUMNS + n_resources + (N_INSIDE if shared else 0) + n_key_columns(order)


def index_on(state: "State", order: int) -> tuple[int, int]:
    """The same on a machine."""
    return index_shape(len(state.jobs), len(state.resources), len(state.inside.full) > 0, order)


_FEW = {Param.PINNED: (0, 0), Param.DEPTH: (0, 1)}
_IN_ORDER = {**_FEW, Param.ORDER: (0, 0), Param.BACKFILL_ORDER: (0, 0)}
_SHAPES = tuple(map(shape, (_IN_ORDER, _FEW)))
"""What many have in common: order of arrival, at most one reservation, and none of particular nodes. With several
reservations a kernel knows nothing: plans and windows then take the same code, which is compiled once."""


@dataclass(frozen=True)
class Backfill(Policy):
    """Backfilling with any number of reservations on any resources."""

    compiled: ClassVar[str] = "backfill.backfill.backfill"
    shapes: ClassVar = _SHAPES

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
        one_of(
            self,
            order=ORDERS,
            backfill_order=("as-queued", *ORDERS[1:]),
            reserve=("nodes", "all"),
            reservations=("counted", "pinned"),
        )

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return lay(
            Param,
            order=self._orders[0],
            descending=self.descending,
            backfill_order=self._orders[1],
            depth=self.depth,
            max_backfill=self.max_backfill,
            reserved=1 if self.reserve == "nodes" else ALL,
            pinned=self.reservations == "pinned",
        )

    @property
    def _orders(self) -> tuple[int, int]:
        """That of the queue, and that in which jobs may pass its head, as numbers; 0 = as queued."""
        passing = 0 if self.backfill_order == "as-queued" else ORDERS.index(self.backfill_order)
        return ORDERS.index(self.order), passing

    @property
    def _indexed(self) -> bool:
        """Whether the kernel gains from an index over the queue, which has one order."""
        small = max(self._orders) == 0 or (self.depth <= 1 and min(self._orders) == 0)
        return small and self.max_backfill == ALL and self.compiled == Backfill.compiled

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The index over the queue."""
        n_rows, n_columns = index_shape(n_jobs, n_resources, False, max(self._orders))
        return (n_rows if self._indexed else 0, n_columns), (0, 0)

    def memory_on(self, state: "State") -> tuple[tuple[int, int], tuple[int, int]]:
        """The index, and where nodes are shared what a decision with reservations tells the next."""
        if self.compiled != Backfill.compiled:
            return self.memory(len(state.jobs), len(state.resources))
        shared = len(state.inside.full) > 0
        n_rows, n_columns = index_on(state, max(self._orders))
        n_rows = n_rows if self._indexed else 0
        tried_alike = self.backfill_order == "as-queued" and self.max_backfill == ALL
        kept = self.depth > 1 or (self.depth == 1 and tried_alike)
        if not shared or not kept:
            return (n_rows, n_columns), (0, 0)
        from forebay.policies._kernels.backfill import kept_reservations, shared_memo

        sizes = len(state.jobs), len(state.resources), len(state.inside.full)
        n_rows, floats = n_rows + -(-shared_memo.n_cells(*sizes, len(state.inside.room)) // n_columns), 1
        if self.depth > 1:
            cells, floats, _ = kept_reservations.n_cells(*sizes)
            n_rows += -(-cells // n_columns)
        return (n_rows, n_columns), (1, floats)

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same, unless nodes are of two kinds and to be pinned."""
        refuse_pinned(self.reservations, resources)
        return self.params()
