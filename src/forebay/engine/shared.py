"""Jobs on nodes that are shared: the parts that each is, and what these ask of nodes, in arrays.

A job with `nodes` is spread over so many different nodes, evenly; one with `tasks` alone is so many equal parts that may
lie together. One that says neither goes to as few nodes as can hold it.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from forebay._text import counted
from forebay.algorithms.inside import BLOCK
from forebay.core.codes import PhaseKind
from forebay.core.inside import ASK, CORES, GPUS, MEMORY, PLACEMENTS
from forebay.core.tables import State
from forebay.core.units import format_bytes
from forebay.engine.program import Program
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.sharing import gpus_of
from forebay.workload.workload import Workload

UNCOUNTED = 1 << 60
"""Memory of a node that does not tell it: more than anybody asks for."""


class Asked(NamedTuple):
    """What jobs ask for, job by job; totals."""

    nodes: np.ndarray
    tasks: np.ndarray
    amounts: np.ndarray  # int64[job, dimension]
    exclusive: np.ndarray  # bool
    gpu: np.ndarray  # the type, as a place in `Platform.gpu_types`; -1 = any, -2 = one that the machine has not


def _column(workload: Workload, name: str, unknown: int = 0) -> np.ndarray:
    jobs = workload.jobs
    return jobs[name].to_numpy() if name in jobs.columns else np.full(len(jobs), unknown, np.int64)


def asked(workload: Workload, platform: Platform) -> Asked:
    """What the job table says."""
    cores, exclusive = _column(workload, "cores"), _column(workload, "exclusive", -1)
    return Asked(
        nodes=_column(workload, "nodes"),
        tasks=_column(workload, "tasks"),
        amounts=np.column_stack([cores, _column(workload, "memory"), _column(workload, "gpus")]),
        exclusive=np.where(exclusive < 0, cores == 0, exclusive > 0),
        gpu=_types(workload, platform),
    )


def _types(workload: Workload, platform: Platform) -> np.ndarray:
    """The type of GPU that each job names, as a place among those that the machine has."""
    code, names, known = _column(workload, "gpu", -1), workload.names.get("gpu", {}), platform.gpu_types
    found = np.full(len(code), -1, np.int64)
    for number in np.unique(code[code >= 0]).tolist():
        name = names.get(number, str(number))
        found[code == number] = known.index(name) if name in known else -2
    return found


def node_tables(platform: Platform) -> tuple[np.ndarray, np.ndarray]:
    """What a node of each class has, and which resource counts it (-1: none does); int64[class, dimension]."""
    full = np.array([[one.cores, UNCOUNTED if one.memory is None else one.memory, one.gpus] for one in platform.classes])
    resource = platform.resources.index
    counts = [
        [0, -1 if one.memory is None else resource("memory"), resource(gpus_of(one)) if one.gpus else -1]
        for one in platform.classes
    ]
    return full.astype(np.int64), np.array(counts, np.int64)


def fill_nodes(state: State, platform: Platform) -> None:
    """All that is known of what is in nodes, idle."""
    inside, machine = state.inside, state.machine[0]
    full, counts = node_tables(platform)
    cls = np.repeat([atom.cls for atom in platform.atoms], [atom.count for atom in platform.atoms])
    inside.full[:] = inside.room[: platform.nodes] = full[cls]
    for block in range(len(inside.room) - platform.nodes):
        nodes = full[cls[block * BLOCK : (block + 1) * BLOCK]]
        inside.room[platform.nodes + block] = nodes.max(axis=0)
    inside.counted[:] = counts[cls]
    inside.first[1:] = np.cumsum(full[cls, CORES])
    inside.atoms[:] = [atom.first for atom in platform.atoms] + [platform.nodes]
    machine["placement"] = PLACEMENTS.index(platform.placement)
    machine["first_inside"] = len(platform.asked)


def _fewest(amounts: np.ndarray, best: np.ndarray) -> np.ndarray:
    """The fewest nodes like the best that can hold so much."""
    fewest: np.ndarray = np.max(-(-amounts // np.maximum(best, 1)), axis=1)
    return fewest


def job_asks(workload: Workload, platform: Platform) -> np.ndarray:
    """The parts of each job and where they may lie."""
    told, full = asked(workload, platform), node_tables(platform)[0]
    asks = np.zeros(len(workload), ASK)
    of_type = np.array([_of_type(platform, one.gpus and one.gpu) for one in platform.classes])
    silent = (told.nodes == 0) & (told.tasks == 0)
    nodes = np.where(silent, _fewest(told.amounts, full.max(axis=0)), told.nodes)
    asks["spread"] = nodes > 0
    parts = asks["parts"] = np.where(nodes > 0, nodes, told.tasks)
    each = -(-told.amounts // np.maximum(parts, 1)[:, None])
    # Who has nodes alone and says no cores has all of them, whatever their class: one part a node, of a core or more.
    asks["exclusive"], asks["spread"] = told.exclusive, asks["spread"] | (told.exclusive & (each[:, CORES] == 0))
    asks["cores"], asks["memory"], asks["gpus"] = np.maximum(each[:, CORES], parts > 0), each[:, MEMORY], each[:, GPUS]
    for a, atom in enumerate(platform.atoms):
        fits = np.all([asks[name] <= full[atom.cls, d] for d, name in enumerate(("cores", "memory", "gpus"))], axis=0)
        fits &= (told.gpu == -1) | (asks["gpus"] == 0) | (told.gpu == of_type[atom.cls])
        asks["allowed"] |= np.where(fits, np.int64(1) << a, 0)
    return asks


def _of_type(platform: Platform, gpu: str | int) -> int:
    """The place of a type among those that the machine has; -3 for nodes without GPUs."""
    return platform.gpu_types.index(gpu) if isinstance(gpu, str) else -3


def share(workload: Workload, platform: Platform, program: Program) -> Program:
    """The program with what its legs ask of shared nodes, and the least of each resource that this takes."""
    _refuse(workload, platform, program)
    asks = job_asks(workload, platform)[program.leg_job]
    several = np.diff(program.first_leg)[program.leg_job] > 1
    computes = np.zeros(len(asks), bool)
    computes[program.phase_leg[program.kind == PhaseKind.COMPUTE]] = True
    in_nodes = _column(workload, "nodes")[program.leg_job] > 0
    without = several & np.where(in_nodes, program.demand[:, 0] == 0, ~computes)
    asks["parts"] = np.where(without, 0, asks["parts"])
    demand = program.demand.copy()
    demand[:, 0], demand[:, len(platform.asked) :] = 0, 0
    for r, least in _least(platform, asks).items():
        demand[:, r] = least
    return replace(program, demand=demand, asks=asks)


def _least(platform: Platform, asks: np.ndarray) -> dict[int, np.ndarray]:
    """The least of each resource that a leg takes inside nodes, whichever of those allowed it gets."""
    full, counts = node_tables(platform)
    found: dict[int, np.ndarray] = {}
    each = (asks["cores"], asks["memory"], asks["gpus"])
    alone = (asks["exclusive"] != 0) & (asks["spread"] != 0)  # then whole nodes count, one a part
    resources = {(int(r), d) for row in counts for d, r in enumerate(row) if r >= 0}
    for r, d in sorted(resources):
        least = np.full(len(asks), np.iinfo(np.int64).max)
        for a, atom in enumerate(platform.atoms):
            here = np.where(alone, full[atom.cls, d], each[d]) if counts[atom.cls, d] == r else np.zeros_like(each[d])
            least = np.where((asks["allowed"] >> a) & 1 == 1, np.minimum(least, here), least)
        nowhere = each[d] if r == 0 else 0  # such a job is rejected, and asks for its cores all the same
        found[r] = np.where(asks["allowed"] == 0, nowhere, least) * asks["parts"]
    return found


def _refuse(workload: Workload, platform: Platform, program: Program) -> None:
    """Refuse what jobs cannot do on nodes that they share."""
    if program.rounds is not None:
        raise InputError(
            f"{workload.name}: jobs have applications, and {platform.name} shares nodes, on which sizes are fixed; "
            "write sharing = false, or run with --job-model alloc-only"
        )
    for bad, what in (
        (program.carry[:, 0], "carries nodes from leg to leg"),
        (np.bincount(program.phase_leg[program.release == 0], minlength=len(program.walltime)) > 0, "gives nodes back"),
    ):
        if bad.any():
            job = workload.jobs["id"][int(program.leg_job[np.argmax(bad)])]
            raise InputError(
                f"{workload.name}: job {job} {what}, and {platform.name} shares nodes, which a leg has from its start to "
                "its end; let each leg ask for its own, or write sharing = false"
            )


def never_fit(workload: Workload, platform: Platform, program: Program) -> tuple[np.ndarray, list[str]]:
    """Jobs whose parts find no room on the empty machine, and a sentence that names the first."""
    assert program.asks is not None
    asks, full = program.asks, node_tables(platform)[0]
    room = np.zeros(len(asks), np.int64)
    for a, atom in enumerate(platform.atoms):
        holds = np.where(asks["spread"] != 0, 1, full[atom.cls, CORES] // np.maximum(asks["cores"], 1))
        for d, name in ((MEMORY, "memory"), (GPUS, "gpus")):
            holds = np.where(asks[name] > 0, np.minimum(holds, full[atom.cls, d] // np.maximum(asks[name], 1)), holds)
        room += np.where((asks["allowed"] >> a) & 1 == 1, holds * atom.count, 0)
    unfit = np.logical_or.reduceat(room < asks["parts"], program.first_leg[:-1])
    if not unfit.any():
        return unfit, []
    leg = int(program.first_leg[int(np.argmax(unfit))])
    leg += int(np.argmax((room < asks["parts"])[leg:]))
    ask, others = asks[leg], f" ({int(unfit.sum()):,} such jobs)" if unfit.sum() > 1 else ""
    each = [counted(int(ask["cores"]), "core")]
    each += [format_bytes(int(ask["memory"]))] if ask["memory"] else []
    each += [counted(int(ask["gpus"]), "GPU")] if ask["gpus"] else []
    parts = counted(int(ask["parts"]), "node" if ask["spread"] else "part")
    return unfit, [
        f"job {workload.jobs['id'][int(program.leg_job[leg])]} is rejected: it asks for {parts} with {', '.join(each)} "
        f"each, and {platform.name} has room for {int(room[leg]):,} such at most{others}"
    ]
