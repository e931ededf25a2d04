"""Applications of one loop: the same tasks for every job, with amounts of their own at every size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.workload.applications import Applications, empty

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """All sizes of all jobs, in order: the row of a job and one of its sizes."""

    row: _Ints
    nodes: _Ints

    @classmethod
    def between(cls, least: _Ints, most: _Ints) -> "Sizes":
        """Every size from the least to the most."""
        counts = most - least + 1
        row = np.repeat(np.arange(len(least)), counts)
        return cls(row, least[row] + np.arange(len(row)) - (np.cumsum(counts) - counts)[row])


@dataclass(frozen=True)
class Task:
    """What all jobs do in a stage; amounts are for each of the sizes, or the same for all."""

    stage: str
    kind: str
    seconds: _Floats | float = 0.0
    flop: _Floats | float = 0.0
    communication: _Floats | float = 0.0
    bytes: _Floats | float = 0.0
    streams: int = 0  # 0 = all nodes


def applications(
    types: NDArray[np.str_], rounds: _Ints, sizes: Sizes, walltime: _Floats, tasks: Sequence[Task]
) -> Applications:
    """Of jobs 0, 1, 2, ...: malleable ones have a scheduling point before each round. Walltimes are for each size."""
    ids = np.arange(len(rounds))
    stages = np.array([task.stage for task in tasks])
    job, task = (column.ravel() for column in np.meshgrid(ids, np.arange(len(tasks)), indexing="ij"))
    amounts = pl.concat([_amounts(k, one, sizes) for k, one in enumerate(tasks)]).sort("job", "task", "nodes")
    return Applications(
        jobs=pl.DataFrame({"job": ids, "type": types}),
        sizes=pl.DataFrame({"job": sizes.row, "nodes": sizes.nodes, "walltime": walltime}),
        loops=pl.DataFrame(
            {"job": ids, "loop": np.zeros(len(ids), np.int64), "rounds": rounds, "point": types == "malleable"}
        ).with_columns(barrier=pl.lit(True)),
        tasks=pl.DataFrame(
            {
                "job": job,
                "task": task,
                "stage": stages[task],
                "loop": np.where(stages == "run", 0, -1)[task],
                "kind": np.array([task.kind for task in tasks])[task],
            }
        ).with_columns(beside=pl.lit(False), coupled=pl.lit(True)),
        amounts=amounts,
        requests=empty("requests"),
    )


def _amounts(number: int, task: Task, sizes: Sizes) -> pl.DataFrame:
    n = len(sizes.row)
    each = {name: getattr(task, name) for name in ("seconds", "flop", "communication", "bytes")}
    return pl.DataFrame(
        {
            "job": sizes.row,
            "task": np.full(n, number),
            "nodes": sizes.nodes,
            **{name: np.broadcast_to(value, n).astype(np.float64) for name, value in each.items()},
            "streams": np.full(n, task.streams) if task.streams else sizes.nodes,
        }
    )
