"""What a policy in plain Python writes: the verbs."""

from collections.abc import Iterable
from itertools import islice
from operator import index
from typing import Any

import numpy as np

from forebay.core.atoms import Atoms
from forebay.core.building import Building, Places
from forebay.core.codes import AGAIN, LogReason, PhaseKind, Resume, Verb
from forebay.core.tables import State
from forebay.core.view import View
from forebay.core.views.profile import Profile
from forebay.errors import BadActionError, brief, nearest


class Actions(Building):
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
        self._displaced = False  # whether it has started one in the place of others
        self._now = 0.0  # of this decision
        self._says: dict[int, tuple[str, int]] = {}  # what it says of jobs
        self._stands: dict[int, tuple[str, int]] = {}  # what the last one said
        self._said: list[tuple[float, int, str, int]] = []

    def _begin(self) -> None:
        """A new decision: forget what the last one started."""
        self._write_said()
        self._now = self._view.now
        self._n = 0
        self._odd = self._displaced = False
        self._left = None
        self._uncounted.clear()
        self._held.clear()
        self._places.begin()

    @property
    def free(self) -> list[int]:
        """What each resource has left after what this decision has started."""
        return self._count_free().copy()

    @property
    def idle_nodes(self) -> np.ndarray:
        """The nodes that no job has after what this decision has started and resized, ascending.

        A start that names no nodes takes the lowest on which its job may run. Where nodes are shared, these are the
        nodes of which no job has a part.
        """
        return self._places.idle(self._actions[: min(self._n, len(self._actions))])

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
        if self._displaced:
            return False  # what the others leave the next call has
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
        self,
        job: int,
        reason: LogReason = LogReason.NONE,
        nodes: int | Iterable[int] | None = None,
        way: int = 0,
        beside: Profile | None = None,
    ) -> None:
        """Start the job's waiting leg now, on the lowest idle nodes, on as many of them as given, or on those given.

        A job that begins does so in that way, where it has several. Only one whose size is not fixed takes a number.

        `beside` a profile, it starts where it is in no reservation's way, and holds that place there; one that holds a
        reservation from now on starts in its place. It then takes neither nodes nor a way.
        """
        row, way = self._view._row(job), self._whole(way, "a way to run")
        if beside is not None:
            if nodes is not None or way:
                raise BadActionError(
                    f"{self._view._when} started a job beside a profile, and chose its nodes or way; leave that out"
                )
            self._start_beside(row, beside, self._whole(reason, "a reason"))
            return
        if isinstance(nodes, int) and nodes == 0 and self._view.sizes(row) == [0]:
            nodes = None  # its size, said once more
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.START, row, reason=self._whole(reason, "a reason"))
        action["way"], action["nodes"] = way, count
        if chosen is not None or self._places.matter:
            action["first_pick"], action["n_picks"] = self._places.place(row, chosen, count or None)
        self._odd = self._odd or way != 0 or count != 0
        self._uncounted.append((self._view.leg_of(row, way), count or -1, chosen))

    def resize(self, job: int, nodes: int | Iterable[int], *, again: bool = True) -> None:
        """Give a running job another size: at once if it stands at a point, else from its next one on.

        Nodes that it gains are taken now; those that it loses are free at its point, or when it has moved what lies on
        them. Instead of their number, `nodes` may be all the nodes that it shall have; away from its point, what it has
        is then among them.

        If it gives nodes up now, the rest of this decision can use them, and the policy is called again in this
        instant, when the job has gone on from its point; `again=False` does without that call.
        """
        row, self._odd = self._view._row(job), True
        count, chosen = self._size_or_set(row, nodes)
        action = self._add(Verb.RESIZE, row)
        action["way"] = AGAIN if again else 0
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

    def io_weight(self, job: int, weight: float, kind: PhaseKind | None = None) -> None:
        """Let each stream of the job's transfers count as `weight` of them where links are shared; 1 is usual.

        From now on, until it is said again; of phases of one `kind`, or of all. For policies with `steers = True`, as
        all verbs of I/O. Of several in one decision the last counts.
        """
        self._steer(Verb.IO_WEIGHT, job, kind, self._positive(weight, "a weight of I/O"))

    def io_hold(self, job: int, kind: PhaseKind | None = None) -> None:
        """Stop the job's transfers, also those to come, until `io_release`."""
        self._steer(Verb.IO_HOLD, job, kind, 0.0)

    def io_release(self, job: int, kind: PhaseKind | None = None) -> None:
        """Let held transfers go on."""
        self._steer(Verb.IO_RELEASE, job, kind, 0.0)

    def io_cap(self, job: int, rate: float, kind: PhaseKind | None = None) -> None:
        """Let the transfers of each of the job's phases together get at most `rate` bytes/s; inf lifts the cap."""
        self._steer(Verb.IO_CAP, job, kind, self._positive(rate, "a cap on I/O", most=np.inf))

    def _steer(self, verb: Verb, job: int, kind: PhaseKind | None, value: float) -> None:
        action = self._add(verb, self._view._row(job))
        action["time"], action["way"] = value, 0 if kind is None else 1 + PhaseKind(kind)

    def _positive(self, value: Any, what: str, most: float = 1e300) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not 0.0 < number <= most:
            raise BadActionError(f"{self._view._when} gave {brief(value)} as {what}; give a number above 0")
        return number

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

    def _all_said(self) -> list[tuple[float, int, str, int]]:
        """All that was said and taken back (""): when, of which job, what, and behind which other one (-1: none)."""
        self._write_said()
        return self._said

    def _kept(self) -> tuple[Any, ...]:
        """What outlives a decision, to be given back to `_put_back`."""
        return list(self._said), dict(self._stands), dict(self._says), self._now

    def _put_back(self, kept: tuple[Any, ...]) -> None:
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

    def _stop(self) -> None:
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
