"""The verdicts of a comparison: every policy against the reference, by what its jobs and its replicas tell."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._files import replacing
from forebay._text import counted, for_spreadsheets
from forebay.errors import ForebayError
from forebay.experiments import verdicts as of
from forebay.experiments.targets import as_counted
from forebay.experiments.verdicts import Verdict

if TYPE_CHECKING:
    from forebay.cli._bench import Bench
    from forebay.cli._runs import Setting
    from forebay.experiments.blocks import Blocks, Floats
    from forebay.experiments.conditions import Condition
    from forebay.experiments.replicas import Replica

TABLE = "verdicts.csv"
HEADLINE = "mean_waiting_time"
BY_JOBS = {
    HEADLINE: ("waiting_time", None),
    "p95_waiting_time": ("waiting_time", 0.95),
    "mean_bounded_slowdown_10min": ("bounded_slowdown_10min", None),
}
"""Metrics with an interval over blocks: the measure of every job, and which quantile is taken; None: the mean."""
BY_RUNS = ("utilisation_nodes",)
"""Those with an interval over replicas alone."""

Replicas = Mapping[str, "Sequence[Replica]"]


class ConditionHoldsError(ForebayError):
    """A condition that the user set has come true."""

    exit_code = 1


class Jury:
    """All that verdicts of one comparison rest on: the runs by policy, their replicas, and blocks for all of them."""

    def __init__(
        self, setting: "Setting", documents: Sequence[dict[str, Any]], made: "Bench", replicas: Replicas, reference: str
    ) -> None:
        self.reference, self.replicas = reference, replicas
        self._documents = {document["policy"]: document for document in documents}
        self._setting, self._made = setting, made
        self._blocks: Blocks | None = None

    def verdicts(self) -> list[Verdict]:
        """Of every policy but the reference, in the order of the runs, by every metric; none without the reference."""
        if self.reference not in self._documents:
            return []
        theirs = self._measures(self.reference)
        self._blocks = self._make_blocks(theirs["waiting_time"][0])
        others = [policy for policy in self._documents if policy != self.reference]
        return [verdict for policy in others for verdict in self._of(policy, theirs)]

    def by_runs(self, policy: str, metric: str) -> Verdict:
        """A verdict by the numbers of whole runs alone: the trace as it is, and each of its replicas."""
        metric = as_counted(metric, self._documents[policy]["summary"])
        names = policy, self.reference
        n = min(len(self.replicas.get(name, ())) for name in names)
        mine, theirs = (
            [self._documents[name]["summary"].get(metric)]
            + [one.summary.get(metric) for one in list(self.replicas.get(name, ()))[:n]]
            for name in names
        )
        return of.judge(mine, theirs, metric, *names, over=of.REPLICAS)

    @property
    def basis(self) -> str:
        """What intervals are over, in words."""
        blocks = self._blocks.count if self._blocks else 0
        if not blocks:
            return "too few jobs for an interval"
        counts = {len(some) for some in self.replicas.values() if some} or {0}
        most = max(counts)
        over = counted(blocks, "block of jobs", "blocks of jobs")
        return f"95 % interval over {over}" + (f" and {counted(most, 'replica')}" if most else "")

    def _make_blocks(self, waits: "Floats") -> "Blocks":
        import numpy as np

        from forebay.experiments.blocks import Blocks

        inside = self._inside()
        some = waits[np.isfinite(waits)]
        return Blocks(inside, float(some.mean()) if len(some) else 0.0)

    def _inside(self) -> Any:
        """When the jobs of the window are submitted."""
        return self._setting.workload.jobs["submit"].to_numpy()[self._window()]

    def _window(self) -> Any:
        submits = self._setting.workload.jobs["submit"]
        window = self._setting.window
        return (submits.is_between(*window, closed="left") if window else submits.is_not_nan()).to_numpy()

    def _measures(self, policy: str) -> "dict[str, Floats]":
        """Measures of all jobs of the window: a row for the run, and one for each replica."""
        import numpy as np

        from forebay.experiments.replicas import MEASURES, measures_of

        first = measures_of(self._made.result(policy), self._setting.workload.jobs["id"])
        rows = [first, *(one.measures for one in self.replicas.get(policy, ()))]
        return {name: np.array([row[name] for row in rows])[:, self._window()] for name in MEASURES}

    def _of(self, policy: str, theirs: "dict[str, Floats]") -> list[Verdict]:
        mine = self._measures(policy)
        n = min(len(mine["waiting_time"]), len(theirs["waiting_time"]))
        found = [self._by_jobs(policy, metric, mine, theirs) for metric in BY_JOBS]
        if n > 1:
            found += [self.by_runs(policy, metric) for metric in BY_RUNS]
        return found

    def _by_jobs(self, policy: str, metric: str, mine: "dict[str, Floats]", theirs: "dict[str, Floats]") -> Verdict:
        from forebay.experiments.blocks import judge

        assert self._blocks is not None, "blocks come first"
        measure, share = BY_JOBS[metric]
        names = policy, self.reference, metric
        found = judge(names, self._blocks, mine[measure], theirs[measure], share)
        if self._documents[policy]["schedule"] == self._documents[self.reference]["schedule"]:
            return of.same(names, (found.value, found.reference_value), found.n, found.over)
        return found


def rows(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as tables and JSON have them: the word is the column `verdict`."""
    found = []
    for verdict in verdicts:
        told = asdict(verdict)
        found.append({("verdict" if key == "word" else key): value for key, value in told.items()})
    return found


def write(verdicts: Sequence[Verdict], path: Path) -> None:
    """The table of all verdicts."""
    import polars as pl

    numbers = ("value", "reference_value", "change", "low", "high")
    columns = {
        **dict.fromkeys(("policy", "reference", "metric"), pl.String),
        **dict.fromkeys(numbers, pl.Float64),
        "verdict": pl.String,
        "n": pl.Int64,
        "over": pl.String,
    }
    with replacing(path) as [temporary]:
        for_spreadsheets(pl.DataFrame(rows(verdicts), schema=columns)).write_csv(temporary)


def check(
    conditions: "Sequence[Condition]", verdicts: Sequence[Verdict], documents: Sequence[dict[str, Any]], jury: Jury
) -> list[str]:
    """Why conditions hold, a line each; none holds where its interval cannot be told."""
    from forebay.experiments.conditions import failing, failing_alone

    known = {(verdict.policy, verdict.metric): verdict for verdict in verdicts}
    told = []
    for condition in conditions:
        for document in documents:
            policy = document["policy"]
            if not condition.relative:
                told.append(failing_alone(condition, policy, document["summary"]))
            elif policy != jury.reference and any(one["policy"] == jury.reference for one in documents):
                verdict = known.get((policy, condition.metric)) or jury.by_runs(policy, condition.metric)
                told.append(failing(condition, verdict))
    return [line for line in told if line]


def refuse(held: Sequence[str]) -> None:
    """One error for all conditions that hold."""
    if held:
        raise ConditionHoldsError("\n".join(["a condition of --fail-if holds", *(f"  {line}" for line in held)]))
