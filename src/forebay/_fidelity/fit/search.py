"""The search: guesses are taken one after the other, and kept where the simulation then comes closer.

Whether it does is judged by the first half of the jobs; the second half, by which nothing is found to be better, may
only speak against it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from forebay._fidelity._use import amounts, use_of
from forebay._fidelity.fit import guesses
from forebay._fidelity.fit.guesses import Guess
from forebay._fidelity.fit.record import record
from forebay._support.paper import Table
from forebay._support.text import counted
from forebay.metrics._numbers import NONE, count, seconds
from forebay.platforms import Platform
from forebay.results import Result
from forebay.workload import Workload

GAIN = 0.02
"""The share by which the error of the first half must fall."""
Run = Callable[[Workload, Platform], Result]
Pairs = Callable[[Workload, Result], pl.DataFrame]
Off = tuple[float | None, float | None]


@dataclass(frozen=True)
class Trial:
    """A guess, how far waits are off with it and with those kept before it, by half, and whether it is kept."""

    text: str
    hours: float | None
    jobs: int | None
    first: float | None
    second: float | None
    kept: bool


@dataclass(frozen=True)
class Fit:
    """What was tried and kept, the jobs that are taken as held, and the machine and run that come of it.

    Waits are those of jobs that are not held: `before` with the machine as it was given, `after` with what is kept.
    """

    trials: Sequence[Trial]
    kept: Sequence[Guess]
    held: Sequence[int]
    before: Off
    after: Off
    platform: Platform
    workload: Workload
    result: Result = field(repr=False)

    def document(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "assumed": [one.text for one in self.trials if one.kept],
            "trials": [vars(one) for one in self.trials],
            "held_jobs": list(self.held),
            "error_before": dict(zip(("first_half", "second_half"), self.before, strict=True)),
            "error_after": dict(zip(("first_half", "second_half"), self.after, strict=True)),
            "toml": self.toml,
        }

    @property
    def toml(self) -> str:
        """The lines that a platform's file needs for what is kept, but for its number of nodes."""
        lines = []
        for one in self.kept:
            lines += [f"# nodes = {one.nodes}"] if one.nodes is not None else []
            lines += _table("limits", one.rule.described()) if one.rule is not None else []
            for out in one.outages:
                about = {"name": out.name, "start": out.start, "end": out.end, "nodes": out.nodes, "flags": ["maint"]}
                lines += _table("reservations", about)
        return "".join(f"{line}\n" for line in lines)

    def table(self) -> Table:
        """A row for each guess, and before them the machine as it was given."""
        rows = [
            [
                one.text,
                NONE if one.jobs is None else count(one.jobs),
                NONE if one.hours is None else f"{one.hours:,.0f}",
                *(seconds(some) for some in (one.first, one.second)),
                "kept" if one.kept else "",
            ]
            for one in self.trials
        ]
        titles = ["assumed", "jobs\nexplained", "hours\nexplained", "off, first\nhalf", "off, second\nhalf", ""]
        return Table(titles, rows, (1, 2, 3, 4), "What the record leaves open, and how far waits are off on average")


def fit(w: Workload, platform: Platform, run: Run, pairs: Pairs) -> Fit:
    """Search for what would explain the record; `pairs` gives recorded and simulated waits of a run."""
    search = _Search(w, platform, run, pairs)
    made = [*guesses.limits(search.record), *guesses.size(search.record, platform)]
    made += guesses.service(search.record, platform)
    for guess in made:
        if guess.explains:
            search.try_machine(guess)
    search.try_held()
    return search.found()


class _Search:
    """The nearest that was found so far, and all that was tried."""

    def __init__(self, w: Workload, platform: Platform, run: Run, pairs: Pairs) -> None:
        self._run, self._pairs = run, pairs
        self.workload, self.platform, self.result = w, platform, run(w, platform)
        self._given = w, self.result
        self._middle = float(w.jobs["submit"].median() or 0.0)  # type: ignore[arg-type]
        first, last = (float(edge) for edge in w.jobs.select(first=pl.min("submit"), last=pl.max("submit")).row(0))
        use = use_of(w, self.result, (max(first, 0.0), last))
        per_node = max(use.capacity // platform.nodes, 1) if use.unit == "cores" else 1
        self.record = record(w.jobs, amounts(w, self.result), use, w.names, per_node)
        self.off = self._off(w, self.result)
        self.trials = [Trial("as given", None, None, *self.off, False)]
        self.kept: list[Guess] = []
        self.held: Sequence[int] = ()

    def _off(self, w: Workload, result: Result, without: Sequence[int] = ()) -> Off:
        """How far waits are off, of jobs of the first half and of the second."""
        jobs = self._pairs(w, result).filter(~pl.col("job_id").is_in(list(without)))
        early = pl.col("submit") <= self._middle
        return _mean_off(jobs.filter(early)), _mean_off(jobs.filter(~early))

    def try_machine(self, guess: Guess) -> None:
        """Another machine, with what is kept so far."""
        machine = guess.applied(self.platform)
        result = self._run(self.workload, machine)
        off = self._off(self.workload, result)
        better = _better(off, self.off)
        self.trials.append(Trial(guess.text, guess.hours, len(guess.explains), *off, better))
        if better:
            self.platform, self.result, self.off = machine, result, off
            self.kept.append(guess)

    def try_held(self) -> None:
        """Jobs that nothing explains arrive later, unless that puts others further off; they do not count."""
        early = (
            self._pairs(self.workload, self.result).filter(pl.col("error") < -guesses.LEAST_IDLE)["job_id"].to_list()
        )
        begins = guesses.begins(self.record, self.kept, early)
        if not begins:
            return
        ids = list(begins)
        who = counted(len(ids), "job")
        later = begun(self.workload, begins)
        result = self._run(later, self.platform)
        alone, off = self._off(self.workload, self.result, ids), self._off(later, result, ids)
        rows = self.record.jobs.filter(pl.col("id").is_in(ids)).select(
            pl.col("id").replace_strict(begins) - pl.col("submit")
        )
        hours = float(rows.to_series().sum()) / 3600
        better = _no_further(off[0], alone[0]) and _no_further(off[1], alone[1])
        self.trials.append(Trial(f"the same, {who} that nothing explains not counted", None, None, *alone, False))
        self.trials.append(Trial("these held until there was no more room for them", hours, len(ids), *off, better))
        if better:
            self.workload, self.result, self.held = later, result, ids

    def found(self) -> Fit:
        """The end of it."""
        before = self._off(*self._given, self.held)
        after = self._off(self.workload, self.result, self.held)
        return Fit(self.trials, self.kept, self.held, before, after, self.platform, self.workload, self.result)


def begun(w: Workload, begins: Mapping[int, float]) -> Workload:
    """The same jobs, of which some arrive later."""
    submit = pl.coalesce(pl.col("id").replace_strict(begins, default=None, return_dtype=pl.Float64), "submit")
    return replace(w, jobs=w.jobs.with_columns(submit=submit).sort("submit", "id", maintain_order=True))


def _mean_off(jobs: pl.DataFrame) -> float | None:
    return float(jobs["error"].abs().mean()) if len(jobs) else None  # type: ignore[arg-type]


def _better(off: Off, best: Off) -> bool:
    """Closer in the first half, and not further off in the second."""
    if off[0] is None or best[0] is None or not off[0] < (1 - GAIN) * best[0]:
        return False
    return _no_further(off[1], best[1])


def _no_further(off: float | None, best: float | None) -> bool:
    return off is None or best is None or off <= (1 + GAIN) * best


def _table(word: str, values: Mapping[str, Any]) -> list[str]:
    return [f"[[{word}]]", *(f"{key} = {_written(value)}" for key, value in values.items())]


def _written(value: Any) -> str:
    amounts = isinstance(value, Mapping)
    return json.dumps(",".join(f"{name}={amount}" for name, amount in value.items()) if amounts else value)
