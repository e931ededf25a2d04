"""Policies of ours beside the paper's plan-2: paired ratios over replicas, the spread over seeds, gaps closed."""

from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._expected import Expected
from forebay.studies._frame import Report
from forebay.studies._tables import SLOWDOWN, WAIT, Column, Metric, Row
from forebay.studies.kopanski2021._plan import Scope

METRICS = (WAIT, SLOWDOWN, Metric("p99_waiting_time", "99th percentile of waits (s)", 0))
_PREDICTED = {"plan-predict": "plan-best", "sjf-predict": "sjf-bb"}
"""Policies that predict run times, and those that differ from them in this alone."""


def tell(scope: Scope, rows: list[Row], _: Expected, made: Report) -> None:
    """A table a metric, and a sentence a policy that predicts."""
    reference, every = scope.settings.better.reference, []
    for metric in METRICS:
        lines = [
            _row(scope, rows, policy, reference, metric) for policy in dict.fromkeys(row["policy"] for row in rows)
        ]
        every += lines
        title = f"{metric.title.capitalize()}: policies of ours, {scope.settings.better.job_model}"
        made.shown.append(_tables.written(title, lines, ("policy",), _columns(metric, reference)))
    made.frames["better"] = _tables.all_numbers(every)
    made.notes += [line for policy, base in _PREDICTED.items() if (line := _closed(every, policy, base))]


def _means(scope: Scope, rows: list[Row], policy: str, metric: Metric) -> tuple[list[float], list[float]]:
    """Means over the parts: of each seed, jobs as they are; of each replica."""
    mine = [row for row in rows if row["policy"] == policy]
    means = _tables.averaged(mine, "part", ("replica", "seed"), metric.name, scope.parts)
    means.sort(key=lambda row: (row["replica"], row["seed"]))
    as_given = [row[metric.name] for row in means if row["replica"] == 0]
    return as_given, [row[metric.name] for row in means if row["replica"] > 0]


def _row(scope: Scope, rows: list[Row], policy: str, reference: str, metric: Metric) -> Row:
    given, replicas = _means(scope, rows, policy, metric)
    _, bases = _means(scope, rows, reference, metric)
    ratios = statistics.spread([one / base for one, base in zip(replicas, bases, strict=True)])
    return {
        "policy": policy,
        "metric": metric.name,
        "n_seeds": len(given),
        "as_given": statistics.mean(given),
        "over_seeds": _over_seeds(scope, rows, policy, metric),
        "n_replicas": ratios.n,
        "mean": statistics.mean(replicas),
        "ratio": ratios.mean,
        "ratio_half_95": ratios.half,
    }


def _over_seeds(scope: Scope, rows: list[Row], policy: str, metric: Metric) -> float:
    """The standard deviation over seeds as a share of the mean, averaged over the parts; 0 where nothing is drawn."""
    shares = []
    for part in scope.parts:
        wanted = {"policy": policy, "part": part, "replica": 0}
        values = [row[metric.name] for row in rows if all(row[key] == value for key, value in wanted.items())]
        some = statistics.spread(values)
        shares.append((some.deviation or 0.0) / some.mean)
    return statistics.mean(shares)


def _columns(metric: Metric, reference: str) -> list[Column]:
    return [
        ("as given", lambda row: metric.text(row["as_given"])),
        ("over seeds", lambda row: f"{100 * row['over_seeds']:.1f} %"),
        ("mean of replicas", lambda row: metric.text(row["mean"])),
        (f"to {reference}", lambda row: f"{row['ratio']:.3f}"),
        ("± 95 %", lambda row: f"{row['ratio_half_95']:.3f}"),
    ]


def _closed(rows: list[Row], policy: str, base: str) -> str:
    """How much of the gap between a policy and itself with run times known is closed by predicting them."""
    shares = []
    for metric in METRICS:
        mean = {row["policy"]: row["mean"] for row in rows if row["metric"] == metric.name}
        known = f"{base}, run times known"
        if not {policy, base, known} <= set(mean) or mean[base] == mean[known]:
            return ""
        share = (mean[base] - mean[policy]) / (mean[base] - mean[known])
        shares.append(f"{100 * share:.0f} % in {metric.title.partition(' (')[0]}")
    return f"better: of the gap between {base} and {base} with run times known, {policy} closes {', '.join(shares)}"
