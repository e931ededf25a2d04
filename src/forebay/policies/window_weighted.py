"""The choice in a window with the largest weighted sum of uses, such as 80/20 for nodes (Fan et al. 2019)."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class WindowWeighted(Windowed):
    """All resources weigh alike by default."""

    method: str = "exact"
    rule: str = "weights"
