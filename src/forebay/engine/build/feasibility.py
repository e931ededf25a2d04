"""What a program needs before a run can begin: how large machine and tables must be, and which jobs can never run."""

import numpy as np
import polars as pl

from forebay.core.codes import PhaseKind
from forebay.core.units import format_bytes
from forebay.engine.build.leg_balance import Ledger
from forebay.engine.build.program import Program
from forebay.engine.contention.routes import Paths, make_paths, no_paths
from forebay.engine.contention.tables import Network, make_network
from forebay.engine.malleable.tables import BESIDE, WAITS, loop_begins
from forebay.engine.policy_io.needs import check_own
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import shared_bb
from forebay.platforms.tiers._base import Asked
from forebay.workload.workload import Workload

MOST_BESIDE = 10_000_000
_INSIDE = (PhaseKind.CHECKPOINT, PhaseKind.FETCH)
_STAGING = (*_INSIDE, PhaseKind.STAGE_IN, PhaseKind.DRAIN, PhaseKind.STAGE_OUT)
"""Kinds of phases that use the buffer; those inside the machine need no file system."""


def check_atoms(workload: Workload, platform: Platform, program: Program, ledger: Ledger) -> None:
    """Refuse what is not known of nodes that are not all alike.

    Legs that go on with the nodes of the one before: of which atoms are these? And what goes by places of its own.
    """
    if len(platform.atoms) == 1 or platform.sharing:  # there `shared_nodes` refuses what it does not know
        return
    kinds = platform.kinds if not platform.divided else None
    what = "nodes of two kinds" if kinds else "classes or partitions of nodes"
    out = f"leave out large in {kinds.name}" if kinds else "leave out classes and partitions"
    if not platform.model_copy(update={"reservations": ()}).divided and not kinds:
        what, out = "a reservation of some nodes", "reserve all of them"
    if ledger.carries[:, 0].any():
        job = workload.jobs["id"][int(program.leg_job[np.argmax(ledger.carries[:, 0] > 0)])]
        raise InputError(
            f"{workload.name}: job {job} carries nodes from leg to leg, and {platform.name} has {what}; "
            f"let each leg ask for its own, or {out}"
        )
    for bad, where, fix in (
        (program.way is not None, "storage that policies choose", "run it with tiers of other kinds"),
        (platform.fabric().chunked, "a buffer in chunks, which go by nodes that are all alike", "make it pooled"),
    ):
        if bad:
            raise InputError(f"{platform.name} has {what}, and {where}; {fix}, or {out}")


def chunks(
    workload: Workload, platform: Platform, fabric: Fabric, program: Program, ledger: Ledger
) -> tuple[np.ndarray, int]:
    """The chunk size of each leg, and how many runs of chunks there can be at a time."""
    if not fabric.chunked:
        return np.zeros(len(program.walltime), np.int64), 0
    r = platform.resources.index(fabric.buffer or "")
    taken, whole, kept = ledger.demands[:, r], program.demand[:, r], ledger.carries[:, r]
    wrong = ((taken > 0) & (taken < whole)) | ((kept > 0) & (kept < whole))
    if wrong.any():
        job = workload.jobs["id"][int(program.leg_job[np.argmax(wrong)])]
        raise InputError(
            f"{workload.name}: job {job} carries a part of its {fabric.buffer} from leg to leg; "
            "where it lies in chunks, carry all of it or nothing"
        )
    part = (ledger.early_resource == r) & (ledger.early_amount < whole[program.phase_leg])
    if part.any():
        job = workload.jobs["id"][int(program.leg_job[program.phase_leg[np.argmax(part)]])]
        raise InputError(
            f"{workload.name}: job {job} gives back a part of its {fabric.buffer} at the end of a phase; "
            "where it lies in chunks, give back all of it"
        )
    streams = np.maximum(program.nodes, 1)
    size = -(-taken // streams[program.leg_job])
    # A run of chunks has a node at least, unless it can outlive its nodes.
    return size, platform.nodes + int(streams[_without_nodes(program)].sum()) + 1


def _without_nodes(program: Program) -> np.ndarray:
    """Jobs that may hold or move data while they hold no nodes."""
    several = np.diff(program.first_leg) > 1
    gives_back = np.zeros(len(several), bool)
    gives_back[program.leg_job[program.phase_leg[program.release == 0]]] = True
    apart: np.ndarray = several | gives_back | (program.nodes == 0)
    return apart


def _parts(program: Program, fabric: Fabric) -> np.ndarray:
    """The most transfers that a job's phase can be."""
    alone = fabric.n_sites == 1 and not fabric.chunked
    return np.ones(len(program.nodes), np.int64) if alone else np.maximum(program.nodes, 1)


def _beside(program: Program) -> np.ndarray:
    """How many transfers of each phase can run beside others at a time."""
    drains = np.where(program.kind == PhaseKind.DRAIN, 1, 0)
    if program.rounds is None:
        return drains
    steps = program.rounds.steps
    begins = loop_begins(steps)
    # Without a barrier, those of all rounds may.
    times = np.where(steps["flags"][begins] & WAITS, 1, np.maximum(steps["rounds"][begins], 1))
    beside: np.ndarray = np.where(steps["flags"] & BESIDE, times, drains)
    if beside.sum() > MOST_BESIDE:
        raise InputError(
            f"up to {beside.sum():,} transfers may run beside the tasks of their jobs, and {MOST_BESIDE:,} are the "
            "most; give their loops a barrier, or fewer rounds"
        )
    return beside


def _share_devices(program: Program) -> bool:
    """Whether jobs may have several transfers on the devices of their nodes at a time."""
    if program.rounds is None:
        return False
    return bool((np.isin(program.kind, _INSIDE) & (program.rounds.steps["flags"] & BESIDE > 0)).any())


def _have_pauses(program: Program) -> bool:
    """Whether phases that move bytes compute or send messages at the same time."""
    works = program.seconds + program.communication > 0
    return program.rounds is not None and bool((works & (program.bytes > 0)).any())


def traffic(
    program: Program, fabric: Fabric, units: int, checkpoints: bool = False, steered: bool = False
) -> tuple[Paths, Network]:
    """Routes and network for what the program moves; room for the most transfers that can run at a time.

    Every job may move something if they write checkpoints to the file system.
    """
    if not program.moving.any() and not checkpoints:
        return no_paths(), make_network([], [], 0)
    _check_paths(program, fabric)
    job = program.leg_job[program.phase_leg]
    n_jobs = len(program.nodes)
    n_drains = np.bincount(job, _beside(program), n_jobs).astype(np.int64)
    moves, pauses = (np.bincount(job, program.moving, n_jobs) > 0) | checkpoints, _have_pauses(program)
    most = np.where(moves, (1 + n_drains) * (_parts(program, fabric) + 2 * pauses), 0)
    # Of jobs that hold nodes, there cannot be more at a time than nodes, or cores where these are shared.
    together = units * (1 + int(n_drains.max())) * (1 + 2 * pauses) + int(most[_without_nodes(program)].sum())
    communicate = bool((program.communication > 0).any())
    return make_paths(fabric, min(int(most.sum()), together), communicate, _share_devices(program), pauses, steered)


def _check_paths(program: Program, fabric: Fabric) -> None:
    """Refuse what moves to or from a store that the machine does not have."""
    kinds = set(program.kind[program.bytes > 0].tolist())
    staged = kinds & set(_STAGING)
    if staged and fabric.buffer is None:
        raise InputError(
            "phases stage data, and the machine has no buffer for it; add a tier of kind shared_bb "
            "(or burst_buffer=1TB to flat), or have them read from and write to the file system "
            "(of the model io-share: to=pfs)"
        )
    if kinds - {*_INSIDE} and fabric.read is None:
        raise InputError(
            "phases move data from or to the file system, and the machine has none; add a tier of kind pfs "
            "(or pfs=5GB/s to flat), or run with --job-model alloc-only"
        )
    if kinds - {*_STAGING, PhaseKind.READ, PhaseKind.WRITE}:
        raise InputError("a reconfigure phase moves bytes; give it seconds instead")


def sized(workload: Workload, platform: Platform) -> Platform:
    """The machine with its automatic capacities worked out: nodes x what the mean job asks for each of its nodes.

    Or what the largest job needs, of those that the machine has nodes for, where that is more.
    """
    check_own(workload, platform)
    return platform.sized_for(_means(workload, platform), _asked(workload, platform))


def _means(workload: Workload, platform: Platform) -> dict[str, float]:
    """What jobs ask for a node of each tier, on average."""
    jobs = workload.jobs
    nodes = np.maximum(jobs["nodes"].to_numpy(), 1)
    named = [tier.name for tier in platform.tiers if tier.name in jobs.columns]
    return {name: float((jobs[name].to_numpy() / nodes).mean()) for name in named}


def _asked(workload: Workload, platform: Platform) -> dict[str, Asked]:
    """What each job asks for of each tier, the most of any leg, and its nodes; 0 where the machine has too few."""
    jobs, legs = workload.jobs, workload.legs
    nodes, found = jobs["nodes"].to_numpy(), dict[str, Asked]()
    for tier in platform.tiers:
        if tier.name not in jobs.columns:
            continue
        most = jobs[tier.name].to_numpy()
        if legs is not None and tier.name in legs.columns:
            by_leg = legs.group_by("job").agg(pl.col(tier.name).max())
            step = jobs.select("id").join(by_leg, left_on="id", right_on="job", how="left", maintain_order="left")
            most = np.where(step[tier.name].is_null().to_numpy(), most, step[tier.name].fill_null(0).to_numpy())
        found[tier.name] = np.where(nodes <= platform.nodes, most, 0), nodes
    return found


def sizing_notes(workload: Workload, named: Platform, platform: Platform) -> list[str]:
    """A remark on each automatic capacity that the largest job decides."""
    if named is platform:
        return []
    usual, asked, notes = named.sized_for(_means(workload, named)), _asked(workload, named), []
    for tier, mean in zip(platform.tiers, usual.tiers, strict=True):
        if isinstance(tier, shared_bb.Tier) and isinstance(mean, shared_bb.Tier) and tier != mean:
            job = workload.jobs["id"][int(tier.rooms(platform.topology, asked[tier.name]).argmax())]
            size, filled = format_bytes(int(tier.size)), format_bytes(int(mean.size))
            why = f"what job {job} needs; jobs of the mean request on all nodes would fill {filled}"
            notes.append(f"{tier.name} is auto: {size}, {why}")
    return notes
