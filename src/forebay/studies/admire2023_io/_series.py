"""A run over time: intensities of workload and system, nodes that compute, what the file system moves.

Records of studies have no log, so a run is carried out once more for it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from forebay.experiments.runs import Run, workload_of

if TYPE_CHECKING:
    from forebay.platforms.platform import Platform
    from forebay.results import Result
    from forebay.workload import Workload

BUSY = 0.99
"""The share of its bandwidth from which the file system counts as busy."""
WIDTH = 300.0
"""Seconds over which its use is averaged for that."""


@dataclass(frozen=True)
class Intensities:
    """Of the workload (mean over nodes that jobs have or ask for) and of the system, from each time on."""

    time: np.ndarray
    workload: np.ndarray
    system: np.ndarray

    def deviation(self) -> float:
        """The mean distance of the two over time."""
        length = np.diff(self.time)
        return float(np.abs(self.workload - self.system)[:-1] @ length / length.sum())


@dataclass(frozen=True)
class Series:
    """All of a run that is wanted over time."""

    result: "Result"
    workload: "Workload"
    platform: "Platform"

    @cached_property
    def intensities(self) -> Intensities:
        """Intensities from each change on."""
        return intensities(self.result, self.workload, self.platform)

    @cached_property
    def files(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of the file system's bandwidth that is used, in steps."""
        from forebay.figures import _steps

        capacity = self.result.links.filter(pl.col("link") == "pfs write")["capacity"].item()
        times, rates = _steps.transfers(self.result, ("write",))
        return times, rates / capacity

    @cached_property
    def cpu(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of nodes that compute, in steps."""
        from forebay.figures import _steps

        begin, end, nodes = computing(self.result, self.workload, self.platform)
        times, busy = _steps.summed(np.concatenate([begin, end]), np.concatenate([nodes, -nodes]))
        return times, busy / self.platform.nodes

    def busy(self) -> float:
        """The share of time in which the file system is busy."""
        from forebay.figures import _steps

        start, end = _steps.over(self.result)
        _, used = _steps.averaged(self.files, start, end, WIDTH)
        return float((used >= BUSY).mean())

    def out_of_order(self) -> int:
        """By how many places a job was admitted before its turn, at most; jobs are in order of arrival."""
        place = np.argsort(np.argsort(self.result.jobs["starting_time"].to_numpy(), kind="stable"))
        return int(np.max(np.arange(len(place)) - place))


def of(run: Run) -> Series:
    """The run, carried out once more."""
    from forebay._run.simulate import simulate
    from forebay.platforms import load

    workload = workload_of(run.jobs)
    result = simulate(workload, run.platform, run.policy, run.seed, run.job_model, progress=False)
    return Series(result, workload, load(run.platform))


def loads(workload: "Workload", platform: "Platform") -> np.ndarray:
    """Intensity x nodes of each job (by row) at each number of nodes; 0 where it has no such size."""
    from forebay.engine.jobmodels.application import program

    rounds = program(workload, platform).rounds
    assert rounds is not None
    sizes = rounds.sizes
    flex = np.repeat(np.arange(len(rounds.jobs)), rounds.jobs["n_sizes"])
    table = np.zeros((len(rounds.jobs), int(sizes["nodes"].max()) + 1))
    table[flex, sizes["nodes"]] = sizes["io"] / sizes["seconds"] * sizes["nodes"]
    found: np.ndarray = table[rounds.row]
    return found


def intensities(result: "Result", workload: "Workload", platform: "Platform") -> Intensities:
    """Each change of what a job holds changes the system by the difference of its loads before and after."""
    load, preferred = loads(workload, platform), workload.jobs["nodes"].to_numpy()
    rows = result.log.filter(pl.col("resource") == "nodes").select(
        "time", "amount", kind=pl.col("kind").cast(pl.String), job=_row("job", workload)
    )
    job, kind, amount = (rows[name].to_numpy() for name in ("job", "kind", "amount"))
    change = np.where(np.isin(kind, ["start", "acquire"]), amount, np.where(kind == "submit", 0, -amount))
    by_job = np.argsort(job, kind="stable")
    held = np.empty(len(job), np.int64)
    held[by_job] = np.cumsum(change[by_job])  # every job ends with none, so that the next begins at 0
    added = load[job, held] - load[job, held - change]
    waits = np.where(kind == "submit", 1, np.where(kind == "start", -1, 0))
    columns = np.column_stack([added, change, waits * load[job, preferred[job]], waits * preferred[job]])
    time, first = np.unique(rows["time"].to_numpy(), return_index=True)
    system, nodes, queued, asked = np.add.reduceat(columns, first).cumsum(axis=0).T
    return Intensities(time, _share(system + queued, nodes + asked), _share(system, nodes))


def computing(
    result: "Result", workload: "Workload", platform: "Platform"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When each phase of computing began and ended, and on how many nodes.

    The phases of a job follow one another, so that its k-th beginning and its k-th end belong together. In every round
    a job has as much to compute, and the more nodes it has, the shorter it takes.
    """
    rows = result.log.filter(pl.col("reason") == "compute").select(
        "time", kind=pl.col("kind").cast(pl.String), job=_row("job", workload)
    )
    begins = rows.filter(pl.col("kind") == "begin_phase").sort("job", maintain_order=True)
    ends = rows.filter(pl.col("kind") == "end_phase").sort("job", maintain_order=True)
    jobs = workload.jobs.select(job="id", flop=pl.col("flop") * pl.col("nodes"))
    assert workload.applications is not None
    each = jobs.join(workload.applications.loops, on="job", how="left", maintain_order="left")
    work = (each["flop"] / each["rounds"] / platform.speed).to_numpy()
    begin, end = begins["time"].to_numpy(), ends["time"].to_numpy()
    took = end > begin
    begin, end, work = begin[took], end[took], work[begins["job"].to_numpy()[took]]
    return begin, end, np.rint(work / (end - begin))


def _row(name: str, workload: "Workload") -> pl.Expr:
    """The row of the job of that id."""
    ids = workload.jobs["id"]
    return pl.col(name).replace_strict(ids, pl.Series(range(len(ids)), dtype=pl.Int64), return_dtype=pl.Int64)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.5)
    return found
