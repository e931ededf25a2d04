"""The parameters of backfilling that balances the use of nodes and pools, by place behind those of backfilling."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from forebay.core.atoms import set_apart
from forebay.errors import InputError
from forebay.policies._base import lay
from forebay.policies._families.backfill import Backfill


class Param(IntEnum):
    """What the kernel reads behind what backfilling does."""

    ALPHA = 0
    POOLS = 1  # how many resources are balanced, nodes first


@dataclass(frozen=True)
class Balancing(Backfill):
    """Backfilling in an order that changes with what is in use."""

    compiled: ClassVar[str] = "balance.balance"

    alpha: float = 0.4  # how much balance counts against order of arrival, from 0 to 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is {self.alpha:g}; give a number from 0 (order of arrival) to 1 (balance alone)")
        if self.order != "arrival" or self.descending:
            raise InputError("order and descending are not for balance, whose order alpha sets; leave them out")

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """What backfilling reads, and behind it how balance counts. Parts of the nodes are not balanced."""
        own = lay(Param, alpha=self.alpha, pools=set_apart(resources))
        return np.concatenate([super().params_on(resources), own])
