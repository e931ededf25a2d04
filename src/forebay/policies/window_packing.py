"""Bin packing in a window: one by one the job best aligned with what is free (Tetris, as in Fan et al. 2019)."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class WindowPacking(Windowed):
    """What is scarce is spared, what is plenty is used."""

    method: str = "packing"
