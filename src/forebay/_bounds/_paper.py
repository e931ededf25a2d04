"""Bounds as tables and in words: every bound, and how far policies are above the largest."""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from forebay._support.paper import Table
from forebay.metrics._numbers import NONE, shown


def table(bounds: pl.DataFrame, best: Collection[tuple[str, str]], about: str) -> Table:
    """A row for each bound; the largest of each metric, by metric and bound in `best`, is marked."""
    rows = []
    for row in bounds.iter_rows(named=True):
        words = [row["bound"], row["proved"]]
        if row["best_found"] is not None and row["proved"]:
            words.append(f"best found {shown(row['metric'], row['best_found'])}")
        rows.append(
            [
                row["metric"],
                shown(row["metric"], row["value"]),
                "largest" if (row["metric"], row["bound"]) in best else "",
                row["resource"],
                "; ".join(word for word in words if word),
            ]
        )
    caption = f"What no policy can have less of: {about}"
    return Table(["metric", "at least", "", "because of", "by"], rows, (1,), caption)


def distances(gaps: pl.DataFrame) -> Table:
    """A row for each policy and metric, as `Bounds.gaps` gives them."""
    rows = []
    for row in gaps.iter_rows(named=True):
        cells = [NONE if row[key] is None else shown(row["metric"], row[key]) for key in ("value", "least", "gap")]
        times = NONE if row["ratio"] is None else f"{row['ratio']:.2f}"
        rows.append([row["policy"], row["metric"], *cells, times])
    titles = ["policy", "metric", "has", "at least", "above it", "times"]
    return Table(titles, rows, (2, 3, 4, 5), "Each policy against the largest bound of each metric")


def sentences(best: Mapping[str, Mapping[str, Any]], gaps: pl.DataFrame | None) -> list[str]:
    """A sentence a metric: the least of it that is proved, and where runs are held against it, how far they are."""
    said = []
    for metric, row in best.items():
        if row["value"] <= 0:
            said.append(f"No bound above 0 is known for the {_words(metric)}.")
            continue
        why = f", because of {row['resource']}" if row["resource"] else ""
        text = f"No policy can have a {_words(metric)} below {shown(metric, row['value'])}{why}."
        if gaps is not None:
            known = gaps.filter(pl.col("metric") == metric).drop_nulls("ratio").sort("ratio", maintain_order=True)
            times = [f"{policy} {ratio:.3g}" for policy, ratio in known.select("policy", "ratio").iter_rows()]
            text += f" Times that: {', '.join(times)}." if times else ""
        said.append(text)
    return said


def ratios(bounds: pl.DataFrame, best: Mapping[str, Mapping[str, Any]], gaps: pl.DataFrame | None) -> pl.DataFrame:
    """What figures draw: runs in times the largest bound of each metric, or without runs all bounds."""
    found = {}
    for row in bounds.filter(pl.col("best_found").is_not_null()).iter_rows(named=True):
        least = best[row["metric"]]["value"]
        found[row["metric"]] = row["best_found"] / least if least > 0 else None
    rows = []
    for row in (bounds if gaps is None else gaps).iter_rows(named=True):
        metric, least = row["metric"], best[row["metric"]]["value"]
        ratio = row["ratio"] if gaps is not None else row["value"] / least if least > 0 else None
        rows.append((metric, row["policy"] if gaps is not None else row["bound"], ratio, found.get(metric)))
    schema = {"metric": pl.String, "row": pl.String, "ratio": pl.Float64, "best": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def _words(metric: str) -> str:
    return metric.replace("_", " ")
