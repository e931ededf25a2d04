"""The choice in a window that uses most of one resource, the others being mere limits (Fan et al. 2019)."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class WindowConstrained(Windowed):
    """As many nodes as possible; with objectives=burst_buffer as much buffer."""

    method: str = "exact"
    rule: str = "weights"
    objectives: str = "nodes"
