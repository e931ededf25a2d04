"""The tables of jobs with ad-hoc file systems: applications that read and write in seconds by number of servers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from forebay.adhoc import shares
from forebay.core.codes import PhaseKind
from forebay.engine.adhoc.servers import Servers, Setting, streaks
from forebay.engine.build.program import TOO_MANY, Program
from forebay.engine.malleable.tables import MOVE, MOVES, SERVED, WHEN_FREE, WHEN_IDLE
from forebay.errors import InputError
from forebay.workload.applications import Applications, empty

_WRITES = (PhaseKind.WRITE, PhaseKind.CHECKPOINT)
_INIT, _RUN, _CHANGE = range(3)
_STAGES = np.array(["init", "run", "reconfiguration"], object)
_WORDS = np.array([kind.name.lower() for kind in PhaseKind], object)


class Served:
    """Jobs that read or write: `busy` are their rows, `first` their servers at first (0: none), `nodes` their own.

    A task is a phase of the job, or stages its data in or out, or redistributes them. Those of a job lie side by side.
    """

    def __init__(
        self,
        setting: Setting,
        hosts: Servers,
        ids: np.ndarray,
        busy: np.ndarray,
        first: np.ndarray,
        nodes: np.ndarray,
        plain: Program,
    ) -> None:
        self.setting, self.hosts, self.busy, self.first, self.nodes = setting, hosts, busy, first, nodes
        self.ids = ids[busy]
        self._tasks(plain, len(ids))
        self._sizes()

    def _tasks(self, plain: Program, n_jobs: int) -> None:
        """All tasks: the place of their job among the busy, and what they do."""
        place = np.full(n_jobs, -1)
        place[self.busy] = np.arange(len(self.busy))
        job = place[plain.leg_job[plain.phase_leg]]
        mine = job >= 0
        job, kind, amount = job[mine], plain.kind[mine], plain.bytes[mine]
        n, served = len(self.busy), self.first > 0
        staged = [np.bincount(job, amount * (kind == one), n) for one in (PhaseKind.READ, PhaseKind.WRITE)]
        comes, goes = (np.flatnonzero(served & (one > 0)) for one in staged)
        changes = np.flatnonzero(served) if self.setting.malleable else comes[:0]
        parts = [
            (comes, 0, _INIT, np.full(len(comes), PhaseKind.READ), staged[0][comes]),
            (job, 1, _RUN, self._renamed(kind, served[job]), amount),
            (goes, 2, _RUN, np.full(len(goes), PhaseKind.WRITE), staged[1][goes]),
            (changes, 3, _CHANGE, np.full(len(changes), PhaseKind.COMPUTE), np.zeros(len(changes))),
        ]
        order = np.lexsort(
            (
                np.concatenate([np.full(len(part[0]), part[1]) for part in parts]),
                np.concatenate([part[0] for part in parts]),
            )
        )
        self.job, self.turn, self.stage, self.kind, self.bytes = (
            np.concatenate([np.broadcast_to(part[k], len(part[0])) for part in parts])[order] for k in range(5)
        )
        own = self.turn == 1
        self.seconds, self.talks = np.zeros(len(order)), np.zeros(len(order))
        self.seconds[own], self.talks[own] = plain.seconds[mine], plain.communication[mine]
        # A phase of seconds that moves nothing takes these; one that moves bytes takes what that takes.
        self.served = own & (self.bytes > 0) & served[self.job]
        self.moving = (self.bytes > 0) & ~self.served
        self.seconds[self.bytes > 0] = 0.0
        begins = np.concatenate([[0], np.cumsum(np.bincount(self.job, minlength=n))])
        self.task = np.arange(len(order)) - begins[self.job]
        runs = self.stage == _RUN
        before = np.cumsum(runs) - runs
        self.loop = np.where(runs, before - before[begins[self.job]], -1)
        self.rounds = np.where(self.served & self.setting.malleable, self.setting.operations, 1)

    def _renamed(self, kind: np.ndarray, served: np.ndarray) -> np.ndarray:
        """What a job's own phases are: on its servers, or on the file system."""
        names = np.tile(np.arange(len(PhaseKind)), (2, 1))
        names[0, [PhaseKind.FETCH, PhaseKind.CHECKPOINT]] = PhaseKind.READ, PhaseKind.WRITE
        names[1, [PhaseKind.READ, PhaseKind.WRITE]] = PhaseKind.FETCH, PhaseKind.CHECKPOINT
        named: np.ndarray = names[served.astype(np.int64), kind]
        return named

    def _sizes(self) -> None:
        """Of each job the numbers of servers that it may have, ascending; and what it wants before each operation."""
        writes = np.isin(self.kind, _WRITES)
        at = np.flatnonzero(self.served)
        n = len(self.busy)
        begins = np.searchsorted(self.job[at], np.arange(n + 1))
        self.sizes: list[Sequence[int]] = [[one] for one in self.first.tolist()]
        self.wants: list[tuple[Any, ...]] = []
        if not self.setting.malleable:
            return
        known: dict[Any, Any] = {}
        for k in range(n):
            mine = at[begins[k] : begins[k + 1]]
            if not len(mine):
                continue
            last = streaks(np.repeat(writes[mine], self.setting.operations), self.setting.window)
            windows = np.unique(last[last >= 0])
            key = int(self.nodes[k]), int(self.first[k]), int(self.hosts.most[k]), tuple(windows.tolist())
            if key not in known:
                found = self.hosts.reached(k, key[-1])
                table = np.empty((self.setting.window + 2, len(found)), np.int64)
                table[:] = list(found)
                for place, wanted in enumerate(found.values()):
                    for window, servers in wanted.items():
                        table[window, place] = servers
                known[key] = list(found), table
            self.sizes[k], table = known[key]
            if len(self.sizes[k]) > 1:
                # The last row, which -1 stands for, is to stay as it is.
                self.wants.append((k, mine, table[last].reshape(len(mine), self.setting.operations, -1)))

    def applications(self, walltime: np.ndarray) -> Applications:
        """As tables; jobs are asked for their nodes and servers in all."""
        count = np.array([len(one) for one in self.sizes])
        self.count, self.begin = count, np.cumsum(count) - count
        servers = np.concatenate(self.sizes)
        owner = np.repeat(np.arange(len(count)), count)
        self.size_nodes = self.nodes[owner] + (servers if self.setting.nodes == "borrowed" else 0)
        kinds = np.where(count > 1, "evolving", "rigid").astype(object)
        # What a task takes at each size.
        task = np.repeat(np.arange(len(self.job)), count[self.job])
        first = np.cumsum(count[self.job]) - count[self.job]
        size = self.begin[self.job[task]] + np.arange(len(task)) - first[task]
        has, nodes = servers[size], self.size_nodes[size]
        self.task_of_amount, self.first_amount = task, first
        job, own = self.job[task], self.nodes[self.job[task]]
        staging = np.isin(self.turn[task], (0, 2))
        others = np.maximum(nodes - 1, 1)
        return Applications(
            jobs=pl.DataFrame({"job": self.ids, "type": kinds}, {"job": pl.Int64, "type": pl.String}),
            sizes=pl.DataFrame(
                {"job": self.ids[owner], "nodes": self.size_nodes, "walltime": walltime[self.busy][owner]}
            ),
            loops=self._loops(),
            tasks=self._tasks_of_all(),
            amounts=pl.DataFrame(
                {
                    "job": self.ids[job],
                    "task": self.task[task],
                    "nodes": nodes,
                    "seconds": self._seconds(task, own, has),
                    "flop": np.zeros(len(task)),
                    "communication": self.talks[task] * (own - 1) / others,
                    "bytes": np.where(self.moving[task], self.bytes[task], 0.0),
                    "streams": np.where(staging, np.maximum(has, 1), own),
                }
            ),
            requests=self._requests(),
        )

    def _seconds(self, task: np.ndarray, own: np.ndarray, has: np.ndarray) -> np.ndarray:
        """How long tasks take, on `own` nodes with `has` servers each."""
        seconds: np.ndarray = self.seconds[task].copy()
        served = self.served[task]
        if self.setting.nodes == "own":
            computes = (self.kind[task] == PhaseKind.COMPUTE) & (has > 0)
            seconds[computes] *= 1 + self.setting.slowdown
        if served.any():
            by_write, by_read = self.hosts.rates
            at = own[served] - 1, has[served] - 1
            rate = np.where(np.isin(self.kind[task[served]], _WRITES), by_write[at], by_read[at])
            seconds[served] = self.bytes[task[served]] / self.rounds[task[served]] / rate
        return seconds

    def _loops(self) -> pl.DataFrame:
        """How many rounds each loop has."""
        runs = np.flatnonzero(self.stage == _RUN)
        return pl.DataFrame(
            {
                "job": self.ids[self.job[runs]],
                "loop": self.loop[runs],
                "rounds": self.rounds[runs],
                "point": np.zeros(len(runs), bool),
                "barrier": np.ones(len(runs), bool),
            }
        )

    def _tasks_of_all(self) -> pl.DataFrame:
        """What jobs do, task by task, whatever their size."""
        return pl.DataFrame(
            {
                "job": self.ids[self.job],
                "task": self.task,
                "stage": pl.Series(_STAGES[self.stage], dtype=pl.String),
                "loop": self.loop,
                "kind": pl.Series(_WORDS[self.kind], dtype=pl.String),
                "beside": np.zeros(len(self.job), bool),
                "coupled": np.ones(len(self.job), bool),
            }
        )

    def _requests(self) -> pl.DataFrame:
        """What jobs want before each operation, at each size."""
        if not self.wants:
            return empty("requests")
        columns: list[list[np.ndarray]] = [[] for _ in range(5)]
        for k, tasks, wants in self.wants:
            n_tasks, n_rounds, n_sizes = wants.shape
            nodes = self.nodes[k] + np.array(self.sizes[k])
            for column, values in zip(
                columns,
                (
                    np.full(wants.size, self.ids[k]),
                    np.repeat(self.loop[tasks], n_rounds * n_sizes),
                    np.tile(np.repeat(np.arange(n_rounds), n_sizes), n_tasks),
                    np.tile(nodes, n_tasks * n_rounds),
                    self.nodes[k] + wants.ravel(),
                ),
                strict=True,
            ):
                column.append(values)
        names = ("job", "loop", "round", "nodes", "wants")
        return pl.DataFrame(dict(zip(names, map(np.concatenate, columns), strict=True)))

    def finished(self, made: Program) -> Program:
        """The program of these applications, with what crosses no link of the machine and what changes of size move."""
        assert made.rounds is not None
        rounds, setting = made.rounds, self.setting
        phase = made.first_phase[self.busy[self.job]] + self.task
        steps = rounds.steps
        steps["flags"][phase[self.served]] |= SERVED
        each = self.bytes / self.rounds
        task = self.task_of_amount
        row = steps["scale"][phase[task]] + np.arange(len(task)) - self.first_amount[task]
        on_servers = self.served[task]
        rounds.scales["bytes"][row[on_servers]] = each[task[on_servers]]
        if not setting.malleable:
            return made
        # What the servers keep: the input, and all that was written.
        keeps = (self.turn == 0) | (self.served & np.isin(self.kind, _WRITES))
        kept = np.where(keeps, self.bytes, 0.0)
        before = np.cumsum(kept) - kept
        stored = before - before[np.searchsorted(self.job, self.job)]
        self._refuse_too_many(stored + kept)  # servers may hand all of it on
        steps["stored"][phase] = stored
        steps["stores"][phase[keeps]] = each[keeps]
        changes = phase[self.turn == 3]
        steps["flags"][changes] |= MOVES | SERVED
        kind = made.kind.copy()
        kind[changes] = PhaseKind.RECONFIGURE
        several = np.flatnonzero(self.count > 1)
        rounds.jobs["lingers"][rounds.row[self.busy[several]]] = 1
        first_move = np.full(len(made.first_leg) - 1, -1)
        pairs = self.count[several] ** 2
        first_move[self.busy[several]] = np.cumsum(pairs) - pairs
        rounds.visits[0] = WHEN_IDLE if setting.grant == "idle" else WHEN_FREE
        return replace(made, kind=kind, rounds=rounds._replace(moves=self._moves(several), first_move=first_move))

    def _refuse_too_many(self, held: np.ndarray) -> None:
        if (held >= TOO_MANY).any():
            job = self.ids[int(self.job[np.argmax(held)])]
            raise InputError(f"job {job} keeps more bytes on its servers than the log can hold, 9.2e18; correct it")

    def _moves(self, several: np.ndarray) -> np.ndarray:
        """What changes take for every byte that is kept, job by job, by servers before and after."""
        grids = [np.meshgrid(self.sizes[k], self.sizes[k], indexing="ij") for k in several.tolist()]
        if not grids:
            return np.zeros(0, MOVE)
        before, after = (np.concatenate([grid[side].ravel() for grid in grids]) for side in (0, 1))
        moves = np.zeros(len(before), MOVE)
        moves["share"], busiest = shares(before, after, self.setting.redistribute)
        moves["seconds"] = busiest * self.hosts.seconds_a_byte()
        return moves
