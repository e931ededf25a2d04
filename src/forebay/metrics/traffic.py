"""What was moved: use of links and of the file system, bytes by kind, what staging and sharing took of jobs' time."""

from collections.abc import Sequence

import polars as pl

from forebay.errors import InputError, nearest
from forebay.metrics._metric import HIGHER, metric
from forebay.metrics._table import NODES, counted, number, span, stages, tiers_of
from forebay.metrics.jobs import mean
from forebay.results import Result

MOVES = ("stage_in", "checkpoint", "drain", "stage_out", "read", "write", "fetch")
"""Kinds of phases that move bytes, as the log names them."""
SAFE = ("save", "recover")
"""Those of checkpoints to restart from, which few runs have."""

_TAKEN, _ALONE = pl.col("transfer_time"), pl.col("transfer_time_alone")


def _link_names(result: Result) -> list[str]:
    """The shared links of a run; none where nothing could be moved."""
    return [] if result.links.is_empty() else result.links["link"].to_list()


def _pfs_links(result: Result) -> list[str]:
    """Those of the links that lead to the file system."""
    name = result.facts.get("platform", {}).get("file_system")
    ours = {name, f"{name} read", f"{name} write"} if name else set()
    return [link for link in _link_names(result) if link in ours]


def _moves(result: Result) -> bool:
    """Whether the run could move bytes over links, or did so where each job has a bandwidth of its own."""
    return bool(_link_names(result)) or bool(
        result.log.select(((pl.col("kind") == "end_phase") & (pl.col("amount") > 0)).any()).item()
    )


@metric(unit="s", group="staging", needs=stages)
def mean_stage_in_time(result: Result) -> float | None:
    """Mean time in which data was copied into the buffer, over jobs with phases besides compute."""
    return mean(result, "stage_in_time")


@metric(unit="s", group="staging", needs=stages)
def mean_io_time(result: Result) -> float | None:
    """Mean time in which a job ran but did not compute, over jobs with phases besides compute."""
    return mean(result, "io_time")


def link_utilisation(result: Result, link: str) -> float | None:
    """Bytes that crossed a shared link over what it could have carried during the makespan, 0 to 1.

    None for a window of a run: when bytes crossed a link is not recorded.

    Parameters
    ----------
    link
        One of `result.links["link"]`.
    """
    known = _link_names(result)
    if link not in known:
        hint = nearest(link, known) if known else "no shared link carried anything in this run"
        raise InputError(f"unknown link {link!r}: {hint}")
    return _carried(result, [link])


@metric(unit="share", group="staging", needs=lambda result: stages(result) and bool(_pfs_links(result)))
def pfs_utilisation(result: Result) -> float | None:
    """The same for the file system: its one link, or those for reads and for writes together.

    None for a window of a run, and where nothing was moved or the machine has no file system.
    """
    return _carried(result, _pfs_links(result))


def moved(result: Result) -> dict[str, int]:
    """Bytes that phases of each kind moved, all of the result's jobs together; empty where the log has no phases.

    What a phase had moved when its job was killed counts too, a checkpoint to restart from only if it was complete.
    What nodes send one another is not in it: see `links`.
    """
    ends = result.log.lazy().filter(pl.col("kind") == "end_phase")
    if "window" in result.facts:
        ends = ends.join(result.jobs.lazy().select(job="job_id"), on="job", how="semi")
    amount = pl.col("amount").clip(0).cast(pl.Int128)  # the sum may exceed int64
    rows = ends.group_by(pl.col("reason").cast(pl.String)).agg(amount.sum()).collect().rows()
    found = {kind: int(amount) for kind, amount in rows if amount or kind not in SAFE}
    kinds = [*MOVES, *(kind for kind in SAFE if kind in found)]
    return {kind: found.get(kind, 0) for kind in kinds} if found else {}


@metric("bytes_KIND", unit="bytes", group="staging", needs=lambda result: stages(result) and _moves(result))
def _bytes_moved(result: Result) -> dict[str, int]:
    return {f"bytes_{kind}": amount for kind, amount in moved(result).items()}


@metric("link_use_LINK", unit="share", group="tiers", needs=lambda result: bool(tiers_of(result)))
def _every_link(result: Result) -> dict[str, float | None]:
    return {f"link_use_{link.replace(' ', '_')}": link_utilisation(result, link) for link in _link_names(result)}


def _carried(result: Result, links: Sequence[str]) -> float | None:
    """Bytes over some links / (their capacities x the makespan)."""
    during = span(result)
    if not links or "window" in result.facts or during is None or during[0] >= during[1]:
        return None
    row = result.links.filter(pl.col("link").is_in(links)).select("bytes", "capacity").sum().row(0)
    return float(row[0]) / (float(row[1]) * (during[1] - during[0]))


def _has_io(result: Result) -> bool:
    """Whether the run measured what I/O takes."""
    return "transfer_time" in result.jobs.columns


@metric(unit="", group="staging", needs=_has_io)
def mean_io_slowdown(result: Result) -> float | None:
    """Mean, over jobs that completed and did I/O, of the time of a job's I/O phases over what these take alone."""
    return number(counted(result), (_TAKEN / _ALONE).mean())


@metric(unit="", group="staging", needs=_has_io)
def max_io_slowdown(result: Result) -> float | None:
    """The same of the job that was slowed down most."""
    return number(counted(result), (_TAKEN / _ALONE).max())


@metric(unit="s", group="staging", needs=_has_io)
def mean_io_stall(result: Result) -> float | None:
    """Mean time that a job's I/O phases took longer than alone: held, or with a share of the bandwidth."""
    return number(counted(result), (_TAKEN - _ALONE).clip(0).mean())


@metric(unit="share", group="staging", needs=_has_io, better=HIGHER)
def platform_efficiency(result: Result) -> float | None:
    """Node-seconds in which jobs ran and were not in an I/O phase, over those of all nodes during the makespan.

    Of jobs that completed, with the nodes that they asked for.
    """
    during, nodes = span(result), result.resources.get("nodes", 0)
    if during is None or during[0] >= during[1] or not nodes:
        return None
    works = (pl.col("execution_time") - _TAKEN.fill_null(0.0)).clip(0) * pl.col(NODES)
    completed = pl.col("final_state").cast(pl.String) == "COMPLETED_SUCCESSFULLY"
    found = number(counted(result).filter(completed), works.sum())
    return None if found is None else found / (nodes * (during[1] - during[0]))
