"""The queue as it is, with backfilling: what BBSched (Fan et al. 2019) is compared with first."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class WindowNaive(Windowed):
    """No choice at all."""

    method: str = "in-order"
