"""Jobs put into a schedule one after the other, each as early as it fits: among all orders one gives an optimum."""

import numpy as np

from forebay._bounds._jobs import Jobs


def schedule(jobs: Jobs, order: np.ndarray) -> np.ndarray:
    """When each job starts, if they choose their starts in this order.

    Every start is the moment at which a job is ready, or at which another ends. For measures that grow with starts some
    order gives an optimum (Sprecher, Kolisch & Drexl 1995).
    """
    used = np.flatnonzero((jobs.held > 0).any(axis=0))
    held, capacity, seconds = jobs.held[:, used], jobs.capacity[used], jobs.seconds
    starts = np.zeros(len(jobs))
    placed: list[int] = []
    for j in order:
        mine = np.array(placed, np.int64)
        begin, end = starts[mine], starts[mine] + seconds[mine]
        moments = np.unique(np.append(end[end > jobs.ready[j]], jobs.ready[j]))
        for moment in moments:
            # Use only changes where a job begins: it is enough to look there.
            points = np.append(begin[(begin > moment) & (begin < moment + seconds[j])], moment)
            runs = (begin[:, None] <= points) & (end[:, None] > points)
            if seconds[j] == 0 or (runs.T.astype(np.int64) @ held[mine] + held[j] <= capacity).all():
                starts[j] = moment
                break
        placed.append(int(j))
    return starts
