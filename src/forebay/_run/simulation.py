"""A run that is stepped through: look, act, go on; go back, and try another future."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan
from os import PathLike
from types import TracebackType
from typing import Any

from forebay._run.by_hand import ByHand, Hands
from forebay._run.case import Case, case_of, versions
from forebay._run.handing import handed_to
from forebay._support.text import counted
from forebay.core.actions import Actions
from forebay.core.failures import Failures
from forebay.core.units import format_bytes
from forebay.core.view import View
from forebay.engine.build.table_roles import digest as digest_of
from forebay.engine.driver.snapshot import Saved
from forebay.engine.driver.stepper import Stepper
from forebay.errors import BadActionError, InputError, wrong_type
from forebay.platforms.platform import Platform
from forebay.results import Result
from forebay.workload import Workload


@dataclass(frozen=True)
class Snapshot:
    """Where a run stood, to come back to it: `sim.restore(snapshot)`. It can be pickled.

    Examples
    --------
    >>> sim = fb.open("table1", policy="fcfs-bb")
    >>> before = sim.snapshot()
    >>> sim.run().now, sim.restore(before).now
    (660.0, 0.0)
    """

    time: float
    """Seconds since the workload's beginning."""
    decision: int
    """The number of the decision that it stands at, from 1 on."""
    _of: Mapping[str, Any]
    _saved: Saved
    _by_hand: int
    _notes: tuple[str, ...]

    def __repr__(self) -> str:
        size = format_bytes(self._saved.n_bytes)
        return f"<Snapshot of {self._of['policy']} at {self.time:,.10g} s: decision {self.decision:,}, {size}>"


class Simulation:
    """A run that stands at a decision, as `forebay.open` gives it.

    Look at `view`, act by `act`, and go on with `step`; or let the policy decide with `step` and `run`. `snapshot` and
    `restore` go back, `fork` makes another run that stands here.

    Examples
    --------
    By hand, whatever fits:

    >>> sim = fb.open("table1")
    >>> while not sim.over:
    ...     for job in sim.view.queue:
    ...         if sim.act.fits(job):
    ...             sim.act.start(job)
    ...     go_on = sim.step()
    >>> sim.result()
    <Result of ByHand: 8 jobs on 4 nodes, mean wait 2.38 min>

    What if another policy took over after two minutes?

    >>> sim = fb.open("table1", policy="fcfs").run(until=120)
    >>> [fb.summary(sim.fork(policy=name).run().result())["mean_wait"] for name in ("fcfs", "fcfs-bb")]
    [480.0, 142.5]
    """

    def __init__(self, case: Case, stepper: Stepper, by_hand: int = 0, notes: tuple[str, ...] = (), digest: str = ""):
        self._case = case
        self._stepper: Stepper | None = stepper
        self._by_hand, self._notes = by_hand, notes
        self._stopped = ""  # by which error
        self._digest = digest or digest_of(stepper.state, stepper.truth)

    def __repr__(self) -> str:
        if self._stepper is None:
            return f"<Simulation of {self._case.policy}: closed>"
        ended = int(self._stepper.truth.cursor[0]["n_ended"])
        where = "over" if self.over else f"decision {self.decision:,}"
        return (
            f"<Simulation of {self._case.policy} at {self.now:,.10g} s: {where}, {ended:,} of "
            f"{counted(len(self._case.workload), 'job')} ended>"
        )

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the tables go. What was taken from it before, results and snapshots, stays good."""
        self._stepper = None

    @property
    def _open(self) -> Stepper:
        """The run, unless it was closed."""
        if self._stepper is None:
            raise InputError("this run was closed; open another one with forebay.open")
        return self._stepper

    @property
    def _here(self) -> Stepper:
        """The run, if it stands at a decision."""
        stepper = self._open
        if stepper.over:
            raise BadActionError(
                f"the run was over at t = {self.now:.10g} s; read sim.result(), or go back with sim.restore(snapshot)"
            )
        if not stepper.goes_on:
            raise InputError(
                f"this run cannot go on: {self._stopped or 'it was broken off'}; go back with sim.restore(snapshot), "
                "or open another one"
            )
        return stepper

    @property
    def view(self) -> View:
        """What the scheduler knows at this decision."""
        return self._open.view

    @property
    def act(self) -> Actions:
        """The verbs: what they say is carried out by the next `step`."""
        return self._here.act

    @property
    def now(self) -> float:
        """Seconds since the workload's beginning."""
        return self._open.view.now

    @property
    def over(self) -> bool:
        """Whether every job has ended."""
        return self._open.over

    @property
    def decision(self) -> int:
        """How many decisions there have been, this one included."""
        return int(self._open.truth.cursor[0]["n_decisions"])

    @property
    def workload(self) -> Workload:
        """What runs."""
        return self._case.workload

    @property
    def platform(self) -> Platform:
        """The machine."""
        return self._case.platform

    @property
    def policy(self) -> str:
        """Who decides if the caller does not; "ByHand" if no policy does."""
        return self._case.policy

    def step(self, decide: bool = True) -> bool:
        """Carry out this decision, and stop at the next one.

        Parameters
        ----------
        decide
            Whether the policy decides, if nothing was done by `act`. Without it, nothing happens at this decision.

        Returns
        -------
        bool
            Whether there is a next decision: False once every job has ended.

        Raises
        ------
        ForebayError
            Where an action is refused, jobs wait for ever, or the run was over before. A run that raised cannot go on,
            but can be restored.
        """
        stepper = self._here
        by_hand = stepper.acted and not stepper.decided
        decides = decide and not stepper.acted
        self._do(stepper, [stepper.decide, stepper.go_on] if decides else [stepper.go_on])
        self._by_hand += by_hand or not decide
        return not stepper.over

    def _do(self, stepper: Stepper, steps: list[Callable[[], None]]) -> None:
        """Go on. What a policy does is checked when it is carried out."""
        hands: Hands = stepper.act  # type: ignore[assignment]
        hands.strict = False
        try:
            for step in steps:
                step()
        except Exception as error:
            self._stopped = str(error).split("\n", 1)[0]
            raise
        finally:
            hands.strict = True

    def run(self, until: float | None = None) -> "Simulation":
        """Let the policy decide until the run is over, or comes to a decision at `until` seconds or later.

        Returns
        -------
        Simulation
            This one.
        """
        if until is None:
            stepper = self._here
            self._by_hand += stepper.acted and not stepper.decided
            self._do(stepper, [stepper.finish])
            return self
        try:
            limit = float(until)
        except (TypeError, ValueError):
            raise wrong_type("until", until, "seconds since the workload's beginning") from None
        if isnan(limit):
            raise InputError("until is nan; give seconds since the workload's beginning")
        while not self.over and self.now < limit:
            self.step()
        return self

    def snapshot(self) -> Snapshot:
        """Where the run stands, for `restore`: copies of the tables that it changes, and its random numbers.

        Taken before anything was done at this decision.
        """
        stepper = self._untouched()
        return Snapshot(self.now, self.decision, self._identity(), stepper.save(), self._by_hand, self._notes)

    def restore(self, snapshot: Snapshot) -> "Simulation":
        """Go back, or on, to where a snapshot was taken: of this run, or of another one of the same case.

        Returns
        -------
        Simulation
            This one.
        """
        if not isinstance(snapshot, Snapshot):
            raise wrong_type("the snapshot", snapshot, "what sim.snapshot() gave")
        mine = self._identity()
        for name, value in mine.items():
            other = snapshot._of.get(name)
            if other != value:
                what = f"its {name} is {_short(other)}, and here it is {_short(value)}"
                raise InputError(f"this is a snapshot of another run: {what}; restore it in a run opened as that one")
        self._open.restore(snapshot._saved)
        self._by_hand, self._notes, self._stopped = snapshot._by_hand, snapshot._notes, ""
        return self

    def fork(self, policy: Any = None) -> "Simulation":
        """Another run that stands here, of which neither knows the other: to try a future, and compare it.

        Parameters
        ----------
        policy
            Who decides there from now on, without a memory of what was before. If not given, the same one, with a copy
            of its memory.
        """
        if self.over:
            raise InputError(
                f"the run was over at t = {self.now:.10g} s, and a fork would have nothing left to decide; fork it "
                "before, as after sim.run(until=SECONDS), or go back with sim.restore(snapshot) first"
            )
        stepper = self._untouched()
        if policy is None:
            return Simulation(self._case, stepper.fork(), self._by_hand, self._notes, self._digest)
        case = self._case.under(policy)
        if case.limits != self._case.limits:
            raise InputError(f"policy {case.policy} has other limits than this run; open a run with these limits")
        if case.wishes.manner != self._case.wishes.manner:
            raise InputError(f"policy {case.policy} is not asked as this run's is; open a run with it")
        if case.wishes.seen() - self._case.wishes.seen():
            raise InputError(f"policy {case.policy} asks for more than this run tells; open a run with it")
        note = f"{self._case.policy} decided until t = {self.now:.10g} s, {case.policy} from there on"
        other = stepper.fork(case.scheduler)
        return Simulation(case, other, self._by_hand, (*self._notes, note), self._digest)

    def _untouched(self) -> Stepper:
        stepper = self._open
        if not stepper.over:
            stepper = self._here
        if stepper.acted:
            raise InputError("this decision has begun: take snapshots and forks before you act, or after sim.step()")
        return stepper

    def result(self) -> Result:
        """What the run leaves once it is over, as `forebay.simulate` would give it."""
        stepper = self._open
        if not stepper.over:
            ended = int(stepper.truth.cursor[0]["n_ended"])
            raise InputError(
                f"the run is not over: {ended:,} of {counted(len(self._case.workload), 'job')} have ended; call "
                "sim.run() first"
            )
        notes = [*stepper.remarks(), *self._notes]
        if self._by_hand and self._case.policy != ByHand.__name__:
            notes.append(f"{counted(self._by_hand, 'decision')} of {self.decision:,} were taken by hand")
        end = self._case.end(stepper.state, stepper.truth, notes)
        left = end.left._replace(jobs=end.left.jobs.copy(), links=end.left.links.copy())  # the run may be restored
        return self._case.result(end._replace(left=left), stepper.record())

    def _identity(self) -> dict[str, Any]:
        """What makes two runs the same case."""
        case = self._case
        return {
            "workload": case.workload.name,
            "platform": case.platform.describe(),
            "job model": case.job_model,
            "policy": case.policy,
            "seed": case.seed,
            "failures": None if case.failing is None else case.failing.describe(),
            "version of forebay": versions()["forebay"],
            "hash of jobs and machine": self._digest,
        }


def _short(value: Any) -> str:
    """Enough of a fact to tell two apart."""
    text = str(value.get("text", value) if isinstance(value, Mapping) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def open_run(
    workload: Workload | str | PathLike[str],
    platform: str | PathLike[str] | Platform | None = None,
    policy: Any = None,
    seed: int = 0,
    job_model: str | None = None,
    failures: str | PathLike[str] | Mapping[str, Any] | Failures | None = None,
) -> Simulation:
    """Open a run to step through it; it stands at its first decision.

    Parameters
    ----------
    workload
        As for `forebay.simulate`, like all that follows but `policy`.
    platform
        The machine.
    policy
        Who decides where the caller does not: a spec, or an object or class with `decide(view, act)`. Without it, only
        the caller does.
    seed
        Feeds the policy's randomness, and failures that have no seed of their own.
    job_model
        How jobs behave.
    failures
        How nodes fail, and what jobs do about it.

    Returns
    -------
    Simulation
        Also a context: `with forebay.open(...) as sim:` lets its tables go at the end.

    Examples
    --------
    >>> sim = fb.open("table1", policy="fcfs-bb")
    >>> sim.view
    <View at 0 s: 2 waiting, 0 running, 4 of 4 nodes idle>
    >>> sim.step(), sim.now
    (True, 60.0)
    >>> sim.run().result()
    <Result of fcfs-bb: 8 jobs on 4 nodes, mean wait 2.38 min>
    """
    case = case_of(workload, platform, ByHand() if policy is None else policy, seed, job_model, failures)
    state, truth, notes, draw, rng = case.tables()
    stepper = Stepper(state, truth, case.platform.resources, rng, draw, Hands, handed_to(case))
    stepper.take(case.scheduler)
    stepper.go_on()
    return Simulation(case, stepper, notes=tuple(notes))
