"""The verdicts of a comparison: every policy against the reference, by what its jobs and its replicas tell."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.experiments import verdicts as of
from forebay.experiments.statistics import mean
from forebay.experiments.targets import as_counted
from forebay.experiments.verdicts import Verdict

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.blocks import Blocks, Floats
    from forebay.experiments.comparison.shaking import Replica
    from forebay.experiments.comparison.workspace import Workspace
    from forebay.experiments.conditions import Condition
    from forebay.experiments.setting import Setting
    from forebay.workload.names import Names

TABLE = "verdicts.csv"
HEADLINE = "mean_wait"
BY_JOBS = {
    HEADLINE: ("wait", None),
    "p95_wait": ("wait", 0.95),
    "mean_turnaround_time": ("turnaround_time", None),
    "mean_bounded_slowdown_10min": ("bounded_slowdown_10min", None),
}
"""Metrics with an interval over blocks: the measure of every job, and which quantile is taken; None: the mean."""
ON_REQUEST = {"mean_waiting_time": ("waiting_time", None), "p95_waiting_time": ("waiting_time", 0.95)}
"""The same, for conditions alone."""
BY_RUNS = ("utilisation_nodes",)
"""Those with an interval over replicas alone."""

Replicas = Mapping[str, "Sequence[Replica]"]


class Jury:
    """The basis of all verdicts of one comparison: the same runs of every policy, the jobs that ran in all, and blocks.

    Rows are runs: the trace itself, then its replicas. A job counts in a run if it ran there under every policy that
    ran any job. So each number shown, and each change, is over the same runs and jobs.
    """

    def __init__(
        self,
        setting: "Setting",
        documents: Sequence[dict[str, Any]],
        made: "Workspace",
        replicas: Replicas,
        reference: str,
    ) -> None:
        self.reference, self._setting = reference, setting
        self._documents = {document["policy"]: document for document in documents}
        n = min(len(replicas.get(policy, ())) for policy in self._documents)
        self._replicas = {policy: list(replicas.get(policy, ()))[:n] for policy in self._documents}
        self.runs = 1 + n
        self._measures = {policy: self._measured(made, policy) for policy in self._documents}
        self._keep_common()
        self.blocks = self._make_blocks()

    @property
    def jobs(self) -> "pl.DataFrame":
        """The jobs that measures are of: those of the window, in the order of the trace."""
        return self._setting.workload.jobs.filter(self._window())

    @property
    def names(self) -> "Names":
        """What numbers in their table stand for."""
        return self._setting.workload.names

    def measures(self, policy: str) -> "Mapping[str, Floats]":
        """What there is of each job (columns) in each run (rows); NaN where it does not count."""
        return self._measures[policy]

    def verdicts(self, policies: Iterable[str]) -> list[Verdict]:
        """Of every policy but the reference, in this order, by every metric; none without the reference."""
        if self.reference not in self._documents:
            return []
        others = [policy for policy in policies if policy != self.reference]
        return [verdict for policy in others for verdict in self._of(policy)]

    def verdict(self, policy: str, metric: str) -> Verdict:
        """By any metric: over blocks where it is a measure of jobs, else by the numbers of whole runs."""
        known = metric in BY_JOBS or metric in ON_REQUEST
        return self._by_jobs(policy, metric) if known else self.by_runs(policy, metric)

    def by_runs(self, policy: str, metric: str) -> Verdict:
        """A verdict by the numbers of whole runs alone: the trace itself, and each of its replicas."""
        metric = as_counted(metric, self._documents[policy]["summary"])
        mine, theirs = (self._numbers(name, metric) for name in (policy, self.reference))
        return of.judge(mine, theirs, metric, policy, self.reference, over=of.REPLICAS)

    def shown(self, policy: str) -> dict[str, Any]:
        """The numbers of a policy that tables show, each a mean over the same runs, and over the common jobs."""
        from forebay.experiments.comparison.blocks import of_runs
        from forebay.metrics.starvation import DAY

        summary = self._documents[policy]["summary"]
        found = {name: mean_of(self._numbers(policy, name)) for name in summary if not name.startswith("ci95_")}
        mine, wait = self._measures[policy], self._measures[policy]["wait"]
        for name, (measure, share) in (BY_JOBS | ON_REQUEST).items():
            found[name] = mean_of(of_runs(mine[measure], share))
        found |= {name: mean_of(of_runs(wait, share)) for name, share in (("median_wait", 0.5), ("max_wait", 1.0))}
        found["n_waiting_over_a_day"] = float((wait > DAY).sum()) / self.runs
        return found

    @property
    def basis(self) -> str:
        """What intervals are over, in words."""
        blocks = self.blocks.count
        if not blocks:
            return "too few jobs for an interval"
        over = counted(blocks, "block of jobs", "blocks of jobs")
        return f"95 % interval over {over}" + (f" and {counted(self.runs - 1, 'replica')}" if self.runs > 1 else "")

    def _numbers(self, policy: str, metric: str) -> list[float | None]:
        """Of whole runs."""
        summaries = [self._documents[policy]["summary"], *(one.summary for one in self._replicas[policy])]
        return [summary.get(metric) for summary in summaries]

    def _keep_common(self) -> None:
        """Blank the measures of jobs that did not run under every policy; policies that ran nothing do not count."""
        import numpy as np

        there = [np.isfinite(mine["wait"]) for mine in self._measures.values()]
        some = [mine for mine in there if mine[0].any()]
        if some:
            common = np.logical_and.reduce(some)
            for mine in self._measures.values():
                for name, values in mine.items():
                    mine[name] = np.where(common, values, np.nan)

    def _make_blocks(self) -> "Blocks":
        import numpy as np

        from forebay.experiments.comparison.blocks import Blocks

        waits = next(iter(self._measures.values()))["wait"][0]
        if self.reference in self._measures:
            waits = self._measures[self.reference]["wait"][0]
        some = waits[np.isfinite(waits)]
        inside = self._setting.workload.jobs["submit"].to_numpy()[self._window()]
        return Blocks(inside, float(some.mean()) if len(some) else 0.0)

    def _window(self) -> Any:
        submits = self._setting.workload.jobs["submit"]
        window = self._setting.window
        return (submits.is_between(*window, closed="left") if window else submits.is_not_nan()).to_numpy()

    def _measured(self, made: "Workspace", policy: str) -> "dict[str, Floats]":
        """Measures of all jobs of the window: a row for the run, and one for each replica."""
        import numpy as np

        from forebay.experiments.comparison.shaking import MEASURES, measures_of

        first = measures_of(made.result(policy), self._setting.workload.jobs["id"])
        rows = [first, *(one.measures for one in self._replicas[policy])]
        return {name: np.array([row[name] for row in rows])[:, self._window()] for name in MEASURES}

    def _of(self, policy: str) -> list[Verdict]:
        from forebay.metrics._listing import own_among

        found = [self._by_jobs(policy, metric) for metric in BY_JOBS]
        if self.runs > 1:
            found += [self.by_runs(policy, metric) for metric in BY_RUNS]
        own = own_among(one["summary"] for one in self._documents.values())
        return found + [self._by_own(policy, metric) for metric in own]

    def _by_own(self, policy: str, metric: str) -> Verdict:
        """By runs, as no measure of jobs is known. Without replicas there is no interval."""
        found = self.by_runs(policy, metric)
        mine, theirs = (self._numbers(name, metric) for name in (policy, self.reference))
        if self._alike(policy) and mine == theirs:
            return of.same((policy, self.reference, metric), (found.value, found.reference_value), found.n, found.over)
        return found

    def _alike(self, policy: str) -> bool:
        """Whether its schedule is that of the reference, on the trace itself."""
        return bool(self._documents[policy]["schedule"] == self._documents[self.reference]["schedule"])

    def _by_jobs(self, policy: str, metric: str) -> Verdict:
        from forebay.experiments.comparison.blocks import judge

        measure, share = (BY_JOBS | ON_REQUEST)[metric]
        names = policy, self.reference, metric
        mine, theirs = (self._measures[name][measure] for name in (policy, self.reference))
        found = judge(names, self.blocks, mine, theirs, share)
        if self._alike(policy) and found.value == found.reference_value:  # in all replicas, too
            return of.same(names, (found.value, found.reference_value), found.n, found.over)
        return found


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def rows(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as tables and JSON have them: the word is the column `verdict`."""
    found = []
    for verdict in verdicts:
        row = asdict(verdict)
        found.append({("verdict" if key == "word" else key): value for key, value in row.items()})
    return found


def frame(verdicts: Sequence[Verdict]) -> "pl.DataFrame":
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
    return pl.DataFrame(rows(verdicts), schema=columns)


def check(
    conditions: "Sequence[Condition]", verdicts: Sequence[Verdict], documents: Sequence[dict[str, Any]], jury: Jury
) -> list[str]:
    """Why conditions hold, a line each; none holds where its interval is not known."""
    from forebay.experiments.conditions import failing, failing_alone

    known = {(verdict.policy, verdict.metric): verdict for verdict in verdicts}
    lines = []
    for condition in conditions:
        for document in documents:
            policy = document["policy"]
            if not condition.relative:
                lines.append(failing_alone(condition, policy, document["summary"]))
            elif policy != jury.reference and any(one["policy"] == jury.reference for one in documents):
                verdict = known.get((policy, condition.metric)) or jury.verdict(policy, condition.metric)
                lines.append(failing(condition, verdict))
    return [line for line in lines if line]
