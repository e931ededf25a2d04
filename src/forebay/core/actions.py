"""What a policy in plain Python writes: the verbs."""

from collections.abc import Iterable
from itertools import islice
from operator import index
from typing import Any, Protocol

import numpy as np

from forebay.core.atoms import Atoms
from forebay.core.codes import LogReason, Resume, Verb
from forebay.core.tables import State
from forebay.core.view import View
from forebay.errors import BadActionError, brief, nearest

_NOTHING = np.zeros(0)


class Places(Protocol):
    """Where jobs would go, after what this decision has started."""

    matter: bool  # whether fitting depends on places, not on amounts alone

    def begin(self) -> None: ...
    def fits(self, job: int) -> bool: ...
    def pick(self, nodes: list[int]) -> tuple[int, int]: ...
    def place(self, job: int, nodes: list[int] | None = None, count: int | None = None) -> tuple[int, int]: ...
    def follow(self, actions: np.ndarray) -> None: ...


class Actions:
    """The verbs. The engine checks and carries them out, in order, when the policy returns.

    Examples
    --------
    >>> class Patient(fb.Policy):
    ...     def decide(self, view, act):
    ...         if view.now < 60:
    ...             act.wake(60)
    ...             return
    ...         for job in view.queue:
    ...             if act.fits(job):
    ...                 act.start(job)
    >>> fb.simulate("table1", policy=Patient()).jobs["waiting_time"][0]
    60.0
    """

    def __init__(self, state: State, view: View, places: Places):
        self._view, self._counts, self._actions = view, state.counts[0], state.actions
        self._atoms = Atoms(*state.nodes.atoms.T.tolist()) if len(state.nodes.atoms) else None
        self._flexible = state.flexible
        self._places = places
        self._free = state.resources["free"]
        self._n = 0
        self._left: list[int] | None = None
        # Legs started since `_left` was counted, on how many nodes (-1: as demanded), and on which, if they were named.
        self._uncounted: list[tuple[int, int, list[int] | None]] = []
        self._held: dict[int, int] = {}  # nodes of jobs that this decision has resized
        self._odd = False  # whether this decision has given some job another way or size than it asks for
        self._now = 0.0  # of this decision
        self._says: dict[int, tuple[str, int]] = {}  # what it says of jobs
        self._stands: dict[int, tuple[str, int]] = {}  # what the last one said
        self._said: list[tuple[float, int, str, int]] = []

    def begin(self) -> None:
        """A new decision: forget what the last one started."""
        self._write_said()
        self._now = self._view.now
        self._n = 0
        self._odd = False
        self._left = None
        self._uncounted.clear()
        self._held.clear()
        self._places.begin()

    @property
    def free(self) -> list[int]:
        """What each resource has left after what this decision has started."""
        return self._count_free().copy()

    def _count_free(self) -> list[int]:
        if self._left is None:
            self._left = self._free.tolist()
        for leg, nodes, chosen in self._uncounted:
            needs = self._view.demands[leg].tolist()
            if nodes >= 0:
                needs[0] = nodes
            if self._atoms is not None:
                free, allowed = self._left, int(self._view.legs["allowed"][leg])
                share = self._atoms.share(free, allowed, needs[0]) if chosen is None else self._atoms.of(chosen)
                needs = self._atoms.taken(needs, share)
            self._left = [left - need for left, need in zip(self._left, needs, strict=True)]
        self._uncounted.clear()
        return self._left

    def fits(self, job: int, way: int = 0, nodes: int | None = None) -> bool:
        """Whether the job could start now, in that way, with so many nodes, beside what this decision has started."""
        leg = self._view.leg_of(job, way)
        needs = self._view.demands[leg].tolist()
        if nodes is not None:
            needs[0] = self._whole(nodes, "a number of nodes")
        for need, left in zip(needs, self._count_free(), strict=True):
            if need > left:
                return False
        if self._atoms is not None:
            share = self._atoms.share(self._count_free(), int(self._view.legs["allowed"][leg]), needs[0])
            if sum(share) < needs[0]:
                return False
        return self._places.fits(job) if self._places.matter else True

    def start(
        self, job: int, reason: LogReason = LogReason.NONE, nodes: int | Iterable[int] | None = None, way: int = 0
    ) -> None:
        """Start the job's waiting leg now, on the lowest idle nodes, on as many of them as given, or on those given.

        A job that begins does so in that way, where it has several. Only one whose size is not fixed takes a number.
        """
        row, way = self._view._row(job), self._whole(way, "a way to run")
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.START, row, reason=self._whole(reason, "a reason"))
        action["way"], action["nodes"] = way, count
        if chosen is not None or self._places.matter:
            action["first_pick"], action["n_picks"] = self._places.place(row, chosen, count or None)
        self._odd = self._odd or way != 0 or count != 0
        self._uncounted.append((self._view.leg_of(row, way), count or -1, chosen))

    def backfill(
        self,
        order: str | Iterable[int] = "arrival",
        reserve: str = "all",
        depth: int = 1,
        conservative: bool = False,
        *,
        descending: bool = False,
        expected: Iterable[float] | None = None,
    ) -> list[int]:
        """Start jobs in an order until one does not fit; reserve for it, and let others pass that do not delay it.

        The kernel of the built-in policies does it: on chunks, kinds, classes and partitions and on shared nodes as
        they do. What this decision has started before counts; jobs that it has started or turned away are left out.

        Parameters
        ----------
        order
            Waiting jobs, first first: any of them, each once; those left out neither start nor hold a reservation. Or
            what to order the queue by: "arrival", "walltime", "priority", "nodes", "area", "user", "group" or "queue",
            ties by id.
        reserve
            What reservations hold: "all" resources, or "nodes" alone.
        depth
            How many jobs that cannot start hold a reservation; 0 lets everybody pass who fits.
        conservative
            Reserve for all of them, whatever `depth` is.
        descending
            Whether the largest goes first, in an order by a word.
        expected
            Seconds that each job is expected to take, running ones in all, by row of `view.jobs`; 0 where that is its
            walltime. Without it, walltimes count. The engine still ends jobs at these.

        Returns
        -------
        list of int
            The jobs that it has started.

        Examples
        --------
        >>> class LargestFirst(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill("area", descending=True)
        >>> fb.simulate("table1", policy=LargestFirst())
        <Result of LargestFirst: 8 jobs on 4 nodes, mean wait 2.62 min>
        """
        if self._odd:
            raise BadActionError(
                f"{self._view._when} called act.backfill after it started a job in another way or size, or resized "
                "one; backfill first, in the same decision"
            )
        line = order if isinstance(order, str) else self._line(order)
        deep = None if conservative else self._depth(depth)
        if reserve not in ("all", "nodes"):
            raise BadActionError(f"{self._view._when}: reserve is {brief(reserve)}; give 'all' or 'nodes'")
        seconds = _NOTHING if expected is None else self._seconds(expected)
        left, wrong = self._view._kernels().backfill(line, bool(descending), reserve, deep, seconds)
        if wrong >= 0:
            number = int(self._view.jobs["id"][self._view._row(line[wrong])])
            raise BadActionError(
                f"{self._view._when} gave act.backfill job {number} twice, or though it does not wait; give jobs of "
                "view.queue, each once"
            )
        first, self._n = self._n, int(self._counts["n_actions"])
        started = self._actions[first : self._n]
        if self._n > first:
            self._left = left.tolist()
            self._uncounted.clear()
            if self._places.matter:
                self._places.follow(started)
        jobs: list[int] = started["job"].tolist()
        return jobs

    def _line(self, order: Iterable[int]) -> np.ndarray:
        """Jobs that a policy names, as rows."""
        try:
            line = np.ascontiguousarray(order if isinstance(order, np.ndarray) else list(order))
            if line.ndim != 1 or (line.size and line.dtype.kind not in "iu"):
                raise TypeError
        except (TypeError, ValueError):
            raise BadActionError(
                f"{self._view._when} gave act.backfill {brief(order)} as its order; give a list of jobs, or a word "
                "such as 'area'"
            ) from None
        return line.astype(np.int64, copy=False)

    def _depth(self, depth: Any) -> int:
        try:
            whole = index(depth)
        except TypeError:
            whole = -1
        if whole < 0:
            raise BadActionError(f"{self._view._when}: depth is {brief(depth)}; give a count of reservations from 0 up")
        return whole

    def _seconds(self, expected: Iterable[float]) -> np.ndarray:
        try:
            seconds = np.ascontiguousarray(
                expected if isinstance(expected, np.ndarray) else list(expected), dtype=np.float64
            )
        except (TypeError, ValueError):
            seconds = _NOTHING
        if seconds.shape != (len(self._view.jobs),) or not (seconds >= 0).all():
            raise BadActionError(
                f"{self._view._when} gave act.backfill {brief(expected)} as expected seconds; give a number from 0 up "
                "for each row of view.jobs"
            )
        return seconds

    def resize(self, job: int, nodes: int | Iterable[int]) -> None:
        """Give a running job another size: at once if it stands at a point, else from its next one on.

        Nodes that it gains are taken now; those that it loses are free at its point, or when it has moved what lies on
        them. Instead of their number, `nodes`
        may be all the nodes that it shall have; away from its point, what it has is then among them.
        """
        row, self._odd = self._view._row(job), True
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.RESIZE, row)
        if chosen is not None:
            count = len(chosen)
            action["first_pick"], action["n_picks"] = self._places.pick(chosen)
        action["nodes"] = count
        table = self._view.jobs
        held = self._held.get(row, int(table["held"][row]))
        lingers = self._flexible.jobs["lingers"][self._flexible.row[row]] if row in self._view.points else True
        keeps = max(count, int(table["nodes"][row])) if lingers else count
        left = self._count_free()
        left[0] -= keeps - held
        self._held[row] = keeps

    def interrupt(self, job: int, checkpoint: str = "last") -> None:
        """Stop a running job, which waits then, before all that have not begun, and goes on from a checkpoint.

        The "last" one that is complete, or without any its leg's beginning: it stops now, and the policy is called
        again in this instant. One that it writes "now", or the "next" that it would write: it stops when that is
        complete. This is preemption; without checkpoints the job starts its leg again.
        """
        names = [resume.name.lower() for resume in Resume]
        if checkpoint not in names:
            raise BadActionError(
                f"{self._view._when} interrupted a job with checkpoint={brief(checkpoint)}: "
                f"{nearest(str(checkpoint), names)}"
            )
        self._add(Verb.INTERRUPT, self._view._row(job))["way"] = names.index(checkpoint)

    def kill(self, job: int) -> None:
        """End a job, wherever it is."""
        self._add(Verb.KILL, self._view._row(job))

    def _size_or_set(self, row: int, nodes: int | Iterable[int] | None) -> tuple[int, list[int] | None]:
        """How many nodes, 0 if nothing is said of it, and which."""
        if nodes is None:
            return 0, None
        if isinstance(nodes, int | np.integer):
            count = self._whole(nodes, "a number of nodes")
            if count < 1:
                raise BadActionError(f"{self._view._when} gave {count} as a number of nodes; see view.sizes(job)")
            return count, None
        chosen = self._chosen(nodes)
        return (len(chosen) if len(self._view.sizes(row)) > 1 else 0), chosen

    def _whole(self, value: Any, what: str) -> int:
        try:
            whole = index(value)
        except TypeError:
            raise BadActionError(f"{self._view._when} gave {brief(value)} as {what}; give a whole number") from None
        if not -(2**31) <= whole < 2**31:
            raise BadActionError(f"{self._view._when} gave {brief(value)} as {what}, which is none")
        return whole

    def _chosen(self, nodes: Iterable[int]) -> list[int]:
        """Nodes that a policy names, if it comes to an end with them."""
        most = int(self._view.capacity[0])
        try:
            chosen = list(islice(nodes, most + 1))
        except TypeError:
            raise BadActionError(
                f"{self._view._when} gave {brief(nodes)} as nodes; give a list of their numbers"
            ) from None
        if len(chosen) > most:
            raise BadActionError(f"{self._view._when} picked more than the {most:,} nodes that there are")
        return [self._whole(node, "a node") for node in chosen]

    def say(self, job: int, reason: str, behind: int | None = None) -> None:
        """Tell why a job waits, for `forebay explain`, and behind which other job.

        It counts until the next decision, which has to say it again. It changes nothing else.
        """
        row, other = self._view._row(job), -1 if behind is None else self._view._row(behind)
        if not isinstance(reason, str) or not reason.strip():
            raise BadActionError(
                f"{self._view._when} said {brief(reason)} of a job; give the reason why it waits, as text"
            )
        self._says[row] = reason.strip(), other

    def said(self) -> list[tuple[float, int, str, int]]:
        """All that was said and taken back (""): when, of which job, what, and behind which other one (-1: none)."""
        self._write_said()
        return self._said

    def kept(self) -> tuple[Any, ...]:
        """What outlives a decision, to be given back to `put_back`."""
        return list(self._said), dict(self._stands), dict(self._says), self._now

    def put_back(self, kept: tuple[Any, ...]) -> None:
        """Stand where decisions stood when this was kept."""
        said, stands, says, self._now = kept
        self._said, self._stands, self._says = list(said), dict(stands), dict(says)

    def _write_said(self) -> None:
        """Keep what the decision has said anew, and what it no longer says."""
        if not self._says and not self._stands:
            return
        self._said += [(self._now, row, *what) for row, what in self._says.items() if self._stands.get(row) != what]
        self._said += [(self._now, row, "", -1) for row in self._stands if row not in self._says]
        self._stands, self._says = self._says, {}

    def wake(self, time: float) -> None:
        """Be called at `time` even if nothing happens then."""
        try:
            seconds = float(time)
        except (TypeError, ValueError):
            raise BadActionError(
                f"{self._view._when} asked to be woken at {brief(time)}; give seconds, such as view.now + 60"
            ) from None
        self._add(Verb.WAKE, -1)["time"] = seconds

    def reject(self, job: int) -> None:
        """Turn a waiting job away for good."""
        self._add(Verb.REJECT, self._view._row(job))

    def stop(self) -> None:
        """End the run: the policy cannot go on."""
        self._n = 0
        self._add(Verb.STOP, -1)

    def _add(self, verb: int, job: int, reason: int = LogReason.NONE) -> np.void:
        """The next row. When the table is full it is the last, again and again: the engine then refuses the run."""
        at = min(self._n, len(self._actions) - 1)
        self._actions[at] = (0.0, job, 0, 0, 0, -1, 0, verb, reason)
        self._n += 1
        self._counts["n_actions"] = self._n
        row: np.void = self._actions[at]
        return row
