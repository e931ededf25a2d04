"""Distance to the best: what no schedule of a workload can do better than, and how far policies are from it."""

from forebay._bounds._answer import Bounds
from forebay._bounds._bounds import bounds

__all__ = ["Bounds", "bounds"]
