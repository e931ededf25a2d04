"""Node stealing that shrinks a malleable victim instead of interrupting it; where there is none, it interrupts.

What ADMIRE's D3.3 (2023), section 3.1, leaves for later: "node stealing will solely increase its execution time".
"""

from dataclasses import dataclass
from typing import ClassVar

from forebay.policies._families.steal import Stealing


@dataclass(frozen=True)
class StealMalleable(Stealing):
    """The victim's nodes come free at its next scheduling point; it does not grow back."""

    resizes: ClassVar[bool] = True
