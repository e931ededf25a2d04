"""Jobs do what their applications say: loops of tasks, at whatever size they have. All others compute.

Reads and writes contend for the file system; burst buffers are those of a job's own nodes. Jobs whose size is not fixed
run at their preferred size under policies that know nothing of sizes.
"""

import numpy as np
import polars as pl

from forebay.core.codes import PhaseKind
from forebay.core.tables import FLEX, SIZE
from forebay.engine.build.program import Program, demands, resource_notes, work
from forebay.engine.malleable.tables import (
    ADDED,
    BESIDE,
    BY_ROUND,
    POINT,
    SCALE,
    STEP,
    UNCOUPLED,
    WAITS,
    Rounds,
    loop_begins,
    make_rounds,
)
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.platforms.wires import Wire
from forebay.workload.applications import STAGES, TYPES, Applications
from forebay.workload.workload import Workload

DESCRIPTION = (
    "Jobs run loops of tasks, and may change their size between rounds; transfers contend. Killed at walltime."
)

MOST_SCALES = 50_000_000
"""Rows of amounts by task and size: 32 bytes each."""


def program(workload: Workload, platform: Platform, kill: bool = True, grace: float = 0.0) -> Program:
    """Every job as one leg. `kill`: jobs are killed `grace` seconds after their walltime, which policies count on."""
    if not 0.0 <= grace < np.inf:
        raise InputError(f"job model 'application': grace is {grace:g}; it must be 0 or more seconds")
    applications = workload.applications
    if applications is None:
        raise InputError(f"{workload.name}: no job has an application; run it with another job model, such as io-aware")
    fabric = platform.fabric()
    _refuse(workload, platform, fabric)
    tasks, bounds = _tasks(workload, applications)
    rounds, at = _rounds(workload, applications, platform, tasks, bounds)
    seconds, amount, message = _most(workload, platform, rounds, tasks, at)
    demand = demands(workload.jobs, platform)
    walltime = workload.jobs["walltime"].to_numpy() + grace
    rounds.sizes["walltime"] += grace
    _prefer(workload, platform, rounds, demand, walltime)
    _add_alone(rounds, tasks, at, fabric)
    n = len(workload)
    none = np.full(len(tasks), -1)
    return Program(
        first_leg=np.arange(n + 1),
        walltime=walltime,
        demand=demand,
        carry=np.zeros(demand.shape, bool),
        kills=np.full(n, kill),
        first_phase=bounds,
        kind=_kinds(tasks),
        seconds=seconds,
        bytes=amount,
        communication=message,
        release=none,
        released=none,
        rounds=rounds,
        notes=resource_notes(workload, platform) + _unstaged(demand, platform, fabric),
    )


def _unstaged(demand: np.ndarray, platform: Platform, fabric: Fabric) -> list[str]:
    """A remark where jobs without applications would have moved their data."""
    if fabric.buffer not in platform.resources or fabric.read is None:
        return []
    if not demand[:, platform.resources.index(fabric.buffer)].any():
        return []
    return [f"nothing is staged in job model application: jobs hold their {fabric.buffer}, and tasks move their bytes"]


def _refuse(workload: Workload, platform: Platform, fabric: Fabric) -> None:
    """What applications cannot be run with, by name."""
    for what, table in (("legs", workload.legs), ("phases", workload.phases)):
        if table is not None and len(table):
            raise InputError(
                f"{workload.name}: job {table['job'][0]} has {what}, and jobs have applications; leave out the {what}, "
                "or the applications"
            )
    for is_so, what in (
        (fabric.chunked, "a burst buffer in chunks on servers"),
        (len(platform.atoms) > 1, "nodes that are not all alike"),
        (platform.by_choice, "storage for policies to choose"),
    ):
        if is_so:
            raise InputError(
                f"{workload.name} has applications, and {platform.name} has {what}: what that is to a job whose nodes "
                "change is not defined; choose another machine"
            )


def _tasks(workload: Workload, applications: Applications) -> tuple[pl.DataFrame, np.ndarray]:
    """The tasks of all jobs in order, and where those of each begin; a job without an application computes."""
    rows = workload.jobs.select(job="id").with_row_index("row")
    mine = applications.tasks.join(rows, on="job", how="left")
    if mine["row"].null_count():
        raise InputError(f"{workload.name}: a task belongs to job {mine.filter(pl.col('row').is_null())['job'][0]}, "
                         "which does not exist")  # fmt: skip
    others = rows.join(applications.jobs, on="job", how="anti").select(
        "job",
        task=pl.lit(0, pl.Int64),
        stage=pl.lit("init"),
        loop=pl.lit(-1, pl.Int64),
        kind=pl.lit("compute"),
        beside=pl.lit(False),
        coupled=pl.lit(True),
        row="row",
    )
    tasks = pl.concat([mine, others]).sort("row", "task")
    counts = np.bincount(tasks["row"].to_numpy(), minlength=len(workload))
    if (counts == 0).any():
        raise InputError(f"{workload.name}: job {workload.jobs['id'][int(np.argmin(counts))]} has no task; give it one")
    stage = tasks["stage"].replace_strict(dict(zip(STAGES, range(len(STAGES)), strict=True)), return_dtype=pl.Int64)
    return tasks.with_columns(stage=stage), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _kinds(tasks: pl.DataFrame) -> np.ndarray:
    kinds = {kind.name.lower(): kind.value for kind in PhaseKind}
    return tasks["kind"].replace_strict(kinds, return_dtype=pl.Int64).to_numpy()


def _most(
    workload: Workload, platform: Platform, rounds: Rounds, tasks: pl.DataFrame, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each task the most seconds, bytes and messages that it has at any size; who has no application computes."""
    most = np.zeros((3, len(tasks)))
    for k, name in enumerate(("seconds", "bytes", "communication")):
        np.maximum.at(most[k], at, rounds.scales[name])
    row, alone = tasks["row"].to_numpy(), rounds.steps["scale"] < 0
    talks = workload.jobs["communication"].to_numpy()[row]
    return np.where(alone, work(workload, platform)[row], most[0]), most[1], np.where(alone, talks, most[2])


def _rounds(
    workload: Workload, applications: Applications, platform: Platform, tasks: pl.DataFrame, bounds: np.ndarray
) -> tuple[Rounds, np.ndarray]:
    """The tables of rounds, and the task of each row of amounts."""
    n_jobs, n_tasks = len(workload), len(tasks)
    rows = workload.jobs.select(job="id").with_row_index("row")
    row, stage = tasks["row"].to_numpy(), tasks["stage"].to_numpy()
    steps = np.zeros(n_tasks, STEP)
    steps["back"] = steps["scale"] = steps["request"] = -1
    # Loops: neighbours of one job with the same number.
    loop = tasks["loop"].to_numpy()
    begins = (loop >= 0) & ((np.diff(row, prepend=-1) != 0) | (np.diff(loop, prepend=-2) != 0))
    ends = (loop >= 0) & np.append(begins[1:] | (loop[1:] < 0) | (row[1:] != row[:-1]), True)
    found = tasks.select("job", "loop").join(applications.loops, on=["job", "loop"], how="left", maintain_order="left")
    lost = begins & found["rounds"].is_null().to_numpy()
    if lost.any():
        raise InputError(f"{workload.name}: a task of job {tasks['job'][int(np.argmax(lost))]} is in no loop of its")
    steps["rounds"][begins] = found["rounds"].to_numpy()[begins]
    steps["back"][ends] = np.flatnonzero(begins)
    for flag, column in ((POINT, "point"), (WAITS, "barrier")):
        steps["flags"][begins] |= np.where(found[column].fill_null(False).to_numpy()[begins], flag, 0)
    steps["flags"] |= np.where(tasks["beside"].to_numpy(), BESIDE, 0)
    steps["flags"] |= np.where(tasks["coupled"].to_numpy(), 0, UNCOUPLED)
    steps["flags"] |= np.where(stage == STAGES.index("expansion"), ADDED, 0)
    # Amounts, by task and then by size.
    amounts = (
        applications.amounts.join(tasks.select("job", "task").with_row_index("at"), on=["job", "task"], how="inner")
        .sort("at", "nodes")
    )  # fmt: skip
    if len(amounts) > MOST_SCALES:
        raise InputError(f"{workload.name}: {len(amounts):,} amounts by task and size; {MOST_SCALES:,} are the most")
    at = amounts["at"].to_numpy()
    steps["scale"][at[::-1]] = np.arange(len(amounts))[::-1]
    scales = np.zeros(len(amounts), SCALE)
    scales["seconds"] = amounts["seconds"].to_numpy() + amounts["flop"].to_numpy() / platform.speed
    for name in ("bytes", "communication", "streams"):
        scales[name] = amounts[name].to_numpy()
    flex, sizes, of = _sizes(workload, applications, rows)
    rounds = make_rounds(n_jobs, n_tasks, len(scales), len(flex), len(sizes))
    first_detour = bounds[:-1] + np.bincount(row, stage < STAGES.index("reconfiguration"), n_jobs).astype(np.int64)
    expansion = bounds[:-1] + np.bincount(row, stage < STAGES.index("expansion"), n_jobs).astype(np.int64)
    rounds.scales[:], rounds.detours[:] = scales, np.column_stack([first_detour, expansion, bounds[1:]])
    rounds.jobs[:], rounds.sizes[:] = flex, sizes
    if len(flex):
        rounds.row[:] = of
    in_loop = np.zeros(n_tasks)
    in_loop[begins] = steps["rounds"][begins]
    total = np.bincount(row, in_loop, n_jobs).astype(np.int64)
    rounds.jobs["rounds"] = total[of >= 0]
    rounds = rounds._replace(steps=steps, requests=_requests(workload, applications, tasks, rounds, steps, begins))
    return rounds, at


def _sizes(
    workload: Workload, applications: Applications, rows: pl.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Jobs with applications, their sizes, and the row of each job among the former (-1: none)."""
    kinds = dict(zip(TYPES, range(len(TYPES)), strict=True))
    jobs = applications.jobs.join(rows, on="job").sort("row")
    kind = jobs["type"].replace_strict(kinds, return_dtype=pl.Int64)
    jobs = jobs.with_columns(kind=kind)
    sizes = applications.sizes.join(jobs, on="job").sort("row", "nodes")
    of = np.full(len(workload), -1, np.int64)
    of[jobs["row"].to_numpy()] = np.arange(len(jobs))
    flex, table = np.zeros(len(jobs), FLEX), np.zeros(len(sizes), SIZE)
    counts = np.bincount(of[sizes["row"].to_numpy()], minlength=len(jobs))
    flex["kind"], flex["n_sizes"], flex["asked"] = jobs["kind"].to_numpy(), counts, -1
    flex["first"] = np.cumsum(counts) - counts
    table["nodes"], table["walltime"] = sizes["nodes"].to_numpy(), sizes["walltime"].to_numpy()
    return flex, table, of


def _requests(
    workload: Workload,
    applications: Applications,
    tasks: pl.DataFrame,
    rounds: Rounds,
    steps: np.ndarray,
    begins: np.ndarray,
) -> np.ndarray:
    """What jobs ask for, by loop, round and size; its place gives the steps."""
    if not len(applications.requests):
        return np.zeros(0, np.int64)
    first = tasks.select("job", "loop").with_row_index("at").filter(pl.Series(begins))
    table = applications.requests.join(first, on=["job", "loop"]).sort("at", "round", "nodes")
    at = table["at"].to_numpy()
    steps["request"][at[::-1]] = np.arange(len(table))[::-1]
    steps["flags"][at[table["round"].to_numpy() >= 0]] |= BY_ROUND
    return table["wants"].to_numpy()


def _prefer(workload: Workload, platform: Platform, rounds: Rounds, demand: np.ndarray, walltime: np.ndarray) -> None:
    """Which of its sizes each job asks for: the preferred one, or the largest that the machine has room for."""
    mine, sizes = np.flatnonzero(rounds.row >= 0), rounds.sizes["nodes"]
    flex = rounds.jobs
    wanted = np.minimum(demand[mine, 0], platform.nodes)
    of = np.repeat(np.arange(len(flex)), flex["n_sizes"])
    # One that the machine is too small for asks for its smallest, and is rejected.
    at = np.maximum(np.bincount(of, sizes <= wanted[of], len(flex)).astype(np.int64) - 1, 0)
    flex["size"] = at
    demand[mine, 0], walltime[mine] = sizes[flex["first"] + at], rounds.sizes["walltime"][flex["first"] + at]


def _alone(
    scales: np.ndarray, nodes: np.ndarray, kind: np.ndarray, coupled: np.ndarray, fabric: Fabric
) -> tuple[np.ndarray, np.ndarray]:
    """Seconds that each row takes alone on the machine, and those of them that are transfers."""
    compute, talks = scales["seconds"], (scales["communication"] > 0) & (nodes > 1)
    wait, sending = np.where(talks, fabric.latency, 0.0), scales["communication"] * (nodes - 1) / fabric.port
    seconds = np.where(coupled, wait + np.maximum(compute, sending), np.maximum(compute, wait + sending))
    io = np.zeros(len(scales))
    capacity = dict(zip(fabric.names, fabric.capacity.tolist(), strict=True))
    store = fabric.stores[0] if fabric.stores else None
    for name, wire in (
        (PhaseKind.READ, fabric.read),
        (PhaseKind.WRITE, fabric.write),
        (PhaseKind.CHECKPOINT, store.checkpoint[0][0] if store else None),
        (PhaseKind.FETCH, store.fetch[0][0] if store else None),
    ):
        if wire is not None:
            mine = (kind == name) & (scales["bytes"] > 0)
            streams = scales["streams"][mine]
            if name in (PhaseKind.CHECKPOINT, PhaseKind.FETCH):
                streams = np.minimum(streams, nodes[mine])  # stripes of several ranks share a device
            io[mine] = _transfer(wire, scales["bytes"][mine], streams, capacity)
    return np.maximum(seconds, io), io


def _transfer(wire: Wire, amount: np.ndarray, streams: np.ndarray, capacity: dict[str, float]) -> np.ndarray:
    streams = np.ones_like(streams) if wire.whole else streams
    rate = np.minimum(streams * wire.cap, min((capacity[k] / load for k, load in wire.links.items()), default=np.inf))
    seconds: np.ndarray = wire.delay + amount / rate
    return seconds


def _add_alone(rounds: Rounds, tasks: pl.DataFrame, at: np.ndarray, fabric: Fabric) -> None:
    """Add how long each job takes alone, at each of its sizes; `at` are the tasks of the rows of amounts."""
    if not len(rounds.jobs):
        return
    steps = rounds.steps
    times = np.where(tasks["loop"].to_numpy() >= 0, steps["rounds"][loop_begins(steps)], 0)
    times[tasks["stage"].to_numpy() == STAGES.index("init")] = 1
    flex = rounds.row[tasks["row"].to_numpy()[at]]
    counted = (flex >= 0) & (times[at] > 0)
    size = (np.arange(len(at)) - steps["scale"][at])[counted]
    where, task = rounds.jobs["first"][flex[counted]] + size, at[counted]
    coupled = steps["flags"][task] & UNCOUPLED == 0
    alone = _alone(rounds.scales[counted], rounds.sizes["nodes"][where], _kinds(tasks)[task], coupled, fabric)
    for name, taken in zip(("seconds", "io"), alone, strict=True):
        np.add.at(rounds.sizes[name], where, taken * times[task])
