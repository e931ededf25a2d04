"""Published means against ours: Kopański & Rządca (2021), four parts of the KTH log, both job models.

`python benchmarks/published.py` (with FOREBAY_DATA) runs every cell as given and 20 times with 0 to 5 s added at random
to each run time, then writes the figures of docs/reference/published-numbers.md and prints its tables. About five
minutes.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib import pyplot as plt

import forebay as fb
from forebay.metrics import mean_bounded_slowdown, mean_wait

DATA = Path(os.environ["FOREBAY_DATA"]) / "kopanski"
DOCS = Path(__file__).parents[1] / "docs"
MODELS = ("alloc-only", "io-aware")
PARTS = (3, 10, 13, 15)
POLICIES = ("fcfs", "filler", "fcfs-bb", "sjf-bb", "fcfs-easy")
METRICS = {
    "mean_waiting_time_s": mean_wait,
    "mean_bounded_slowdown_10min": lambda result: mean_bounded_slowdown(result, 600.0),
}
REPLICAS = 20
CHOICES = {
    "pinned, chunked (as published)": ("pinned", "chunked"),
    "counted, chunked": ("counted", "chunked"),
    "pinned, pooled": ("pinned", "pooled"),
    "counted, pooled": ("counted", "pooled"),
}
COLOURS = dict(zip(PARTS, ("#0072b2", "#e69f00", "#009e73", "#cc79a7"), strict=True))  # Okabe & Ito: told apart by all


def workloads(model: str, part: int) -> Iterator[fb.Workload]:
    """The part as it is, then its replicas. The same seconds are added under every policy and model."""
    given = fb.read(DATA / model / f"part-{part}.json.gz")
    yield given
    for replica in range(REPLICAS):
        extra = np.random.default_rng([replica, part]).uniform(0, 5, len(given))
        yield replace(given, jobs=given.jobs.with_columns(run_time=pl.col("run_time") + pl.Series(extra)))


def runs() -> pl.DataFrame:
    """Every run: choice, model, part, policy, replica (0 = as given) and its metrics."""
    rows = []
    for model in MODELS:
        for part in PARTS:
            for replica, workload in enumerate(workloads(model, part)):
                for choice, (reservations, placement) in CHOICES.items():
                    machine = f"dragonfly-96:placement={placement}"
                    for policy in POLICIES:
                        spec = f"{policy}:reservations={reservations}"
                        result = fb.simulate(workload, machine, spec, job_model=model)
                        values = [metric(result) for metric in METRICS.values()]
                        rows.append((choice, model, part, policy, replica, *values))
            print(f"{model} part {part} done", flush=True)
    names = ("choice", "model", "part", "policy", "replica", *METRICS)
    return pl.DataFrame(rows, names, orient="row")


def cells(table: pl.DataFrame) -> pl.DataFrame:
    """One row a cell: published, as given, and the replicas' mean, least and largest; ratios to the published value."""
    published = pl.read_csv(DATA / "published_means_parts.csv").rename({"value": "published"})
    long = table.unpivot(list(METRICS), index=["choice", "model", "part", "policy", "replica"], variable_name="metric")
    keys = ["choice", "model", "metric", "policy", "part"]
    given = long.filter(pl.col("replica") == 0).select(*keys, given="value")
    value = pl.col("value")
    rest = long.filter(pl.col("replica") > 0).group_by(keys)
    spread = rest.agg(mean=value.mean(), least=value.min(), largest=value.max())
    joined = given.join(spread, on=keys).join(published, on=["model", "metric", "policy", "part"])
    inside = (pl.col("published") >= 0.95 * pl.col("least")) & (pl.col("published") <= 1.05 * pl.col("largest"))
    order = {policy: place for place, policy in enumerate(POLICIES)}
    return joined.with_columns(inside=inside).sort(
        "choice", "model", "metric", pl.col("policy").replace_strict(order), "part"
    )


def percent(value: float, base: float) -> str:
    """A difference as text."""
    return f"{100 * (value / base - 1):+.1f} %".replace("-0.0", "0.0").replace("+0.0", "0.0")


def show(cell: pl.DataFrame, metric: str) -> list[str]:
    """A table in Markdown: published value, ours, and the replicas' mean and range, part by part."""
    digits = 0 if metric == "mean_waiting_time_s" else 2
    lines = ["| model | policy | part | published | as given | | replicas: mean | least | largest |", "|" + "---|" * 9]
    for row in cell.filter(pl.col("metric") == metric).iter_rows(named=True):
        base = row["published"]
        spread = [percent(row[name], base) for name in ("mean", "least", "largest")]
        if not row["inside"]:
            spread[0] += " (outside)"
        given = f"{row['given']:,.{digits}f} | {percent(row['given'], base)}"
        words = [row["model"], row["policy"], str(row["part"]), f"{base:,.{digits}f}", given, *spread]
        lines.append(f"| {' | '.join(words)} |")
    return lines


def four_parts(cell: pl.DataFrame, metric: str) -> list[str]:
    """Means over the four parts, as given and over replicas, against the published ones."""
    lines = ["| model | policy | published | as given | replicas |", "|---|---|---|---|---|"]
    for model in MODELS:
        for policy in POLICIES:
            rows = cell.filter((pl.col("metric") == metric) & (pl.col("model") == model) & (pl.col("policy") == policy))
            base, given, mean = rows["published"].sum(), rows["given"].sum(), rows["mean"].sum()
            shown = f"{base / 4:,.0f}" if metric == "mean_waiting_time_s" else f"{base / 4:,.2f}"
            lines.append(f"| {model} | {policy} | {shown} | {percent(given, base)} | {percent(mean, base)} |")
    return lines


def choices(cell: pl.DataFrame, metric: str) -> list[str]:
    """What each choice changes: the replicas' mean over the four parts, against the published mean."""
    lines = [f"| model | policy | {' | '.join(CHOICES)} |", "|" + "---|" * (2 + len(CHOICES))]
    for model in MODELS:
        for policy in POLICIES:
            words = []
            for choice in CHOICES:
                rows = cell.filter(
                    (pl.col("metric") == metric)
                    & (pl.col("model") == model)
                    & (pl.col("policy") == policy)
                    & (pl.col("choice") == choice)
                )
                words.append(percent(rows["mean"].sum(), rows["published"].sum()))
            lines.append(f"| {model} | {policy} | {' | '.join(words)} |")
    return lines


def draw(table: pl.DataFrame, cell: pl.DataFrame, metric: str, policies: tuple[str, ...], path: Path) -> None:
    """Replicas as dots and the run as given as a bar, as ratios to the published value; log scale."""
    mpl.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "forebay", "axes.linewidth": 0.6})
    figure, axes = plt.subplots(1, 2, figsize=(9, 1.25 + 0.6 * len(policies)), sharey=True, sharex=True)
    for axis, model in zip(axes, MODELS, strict=True):
        for row, policy in enumerate(policies):
            for place, part in enumerate(PARTS):
                keep = (pl.col("model") == model) & (pl.col("policy") == policy) & (pl.col("part") == part)
                base = cell.filter(keep & (pl.col("metric") == metric))["published"][0]
                values = table.filter(keep).sort("replica")[metric].to_numpy() / base
                y = row + 0.2 * (place - 1.5)
                axis.plot(values[1:], np.full(REPLICAS, y), "o", ms=3.2, mew=0, alpha=0.55, color=COLOURS[part])
                axis.plot(values[:1], [y], "|", ms=9, mew=1.8, color=COLOURS[part])
        axis.axvline(1, color="black", lw=0.8, zorder=0)
        axis.axvspan(0.95, 1.05, color="black", alpha=0.06, lw=0, zorder=0)
        axis.set_xscale("log")
        axis.set_title(model, fontsize=9)
        axis.set_xlabel(f"{'mean wait' if 'waiting' in metric else 'mean bounded slowdown'}, ours / published")
        axis.spines[["top", "right"]].set_visible(False)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.xaxis.set_minor_formatter(lambda value, _: "")
    ticks = [0.5, 1, 2, 4] if "fcfs-easy" in policies else [0.8, 0.9, 1, 1.1, 1.2, 1.3]
    axes[0].set_xticks(ticks)
    axes[0].set_yticks(range(len(policies)), policies)
    axes[0].set_ylim(len(policies) - 0.5, -0.5)
    handles = [plt.Line2D([], [], marker="o", ls="", ms=4, color=COLOURS[part], label=f"part {part}") for part in PARTS]
    handles.append(plt.Line2D([], [], marker="|", ls="", ms=9, mew=1.8, color="black", label="as given"))
    handles.append(plt.Line2D([], [], marker="o", ls="", ms=4, alpha=0.5, color="black", label="replicas"))
    figure.legend(handles=handles, ncols=6, loc="upper center", frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.28 / figure.get_figheight()))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Run all, write the CSV, the figures, and print the tables for the page."""
    table = runs()
    table.write_csv(DOCS / "published-runs.csv", float_precision=4)
    cell = cells(table)
    ours = cell.filter(pl.col("choice") == next(iter(CHOICES)))
    first = table.filter(pl.col("choice") == next(iter(CHOICES)))
    for metric, name in (("mean_waiting_time_s", "waits"), ("mean_bounded_slowdown_10min", "slowdowns")):
        draw(first, ours, metric, POLICIES[:4], DOCS / f"published-{name}.svg")
        counted = ours.filter((pl.col("metric") == metric) & (pl.col("policy") != "fcfs-easy"))
        print(f"\n## {metric}: inside {counted['inside'].sum()} of {len(counted)}\n")
        for part in (four_parts(ours, metric), show(ours, metric), choices(cell, metric)):
            print("\n".join(part), end="\n\n")
    draw(first, ours, "mean_waiting_time_s", ("fcfs-easy",), DOCS / "published-easy.svg")


if __name__ == "__main__":
    main()
