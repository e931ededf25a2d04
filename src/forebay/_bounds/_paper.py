"""Bounds as tables: every bound, and how far policies are above the largest."""

from collections.abc import Collection

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
