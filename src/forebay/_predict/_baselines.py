"""What others say of a wait: Slurm's way, the mean of similar jobs, and recent waits."""

import numpy as np

from forebay._predict._quantiles import LEVELS
from forebay._predict._world import World

NAMES = ("slurm", "similar", "recent")
_LAST = 100
_FEWEST = 5


class Waits:
    """Waits that had ended by a time, of jobs that had to wait."""

    def __init__(self, world: World) -> None:
        self._world = world
        waited = world.start > world.submit
        rows = np.flatnonzero(waited)
        self._rows = rows[np.argsort(world.start[rows], kind="stable")]
        self._starts = world.start[self._rows]
        nodes = world.workload.jobs["nodes"].to_numpy()
        walltime = world.workload.jobs["walltime"].to_numpy()
        with np.errstate(divide="ignore"):
            size = np.floor(np.log2(np.maximum(nodes, 1)))
            request = np.where(np.isfinite(walltime), np.floor(np.log2(np.maximum(walltime, 1))), -1)
        self._kind = (64 * size + request).astype(np.int64)

    def until(self, time: float) -> np.ndarray:
        """Rows of the world, in order of their starts."""
        return self._rows[: np.searchsorted(self._starts, time, "right")]

    def similar(self, job: int, time: float) -> np.ndarray:
        """Of the last hundred jobs as large, with as long a walltime, by powers of two; else of any."""
        known = self.until(time)
        alike = known[self._kind[known] == self._kind[job]][-_LAST:]
        return self._waits(alike if len(alike) >= _FEWEST else known[-_LAST:])

    def recent(self, time: float) -> np.ndarray:
        """Of the last hundred that started."""
        return self._waits(self.until(time)[-_LAST:])

    def _waits(self, rows: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._world.start[rows] - self._world.submit[rows]
        return found


def levels_of(waits: np.ndarray, point: float | None = None) -> np.ndarray:
    """Waits at the usual levels; the median may be replaced by a point that a method gives."""
    if not len(waits):
        return np.zeros(len(LEVELS))
    found: np.ndarray = np.quantile(waits, LEVELS)
    if point is not None:
        found[len(LEVELS) // 2] = point
    return found
