"""The figures of the study, each with its data as CSV."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forebay.studies._tables import Metric, Row
from forebay.studies.bbsched2019 import _example

if TYPE_CHECKING:
    from forebay.studies.bbsched2019._fronts import Front


def example(path: Path) -> list[Path]:
    """Every choice of the motivating example's jobs that fits, the front, and the points that the two rules take."""
    from forebay.figures.panels import front

    choices = []
    for bits in range(1, 1 << len(_example.JOBS)):
        jobs = tuple(k + 1 for k in range(len(_example.JOBS)) if bits >> k & 1)
        use = _example.used(jobs)
        if max(use) <= 100:
            choices.append(use)
    taken = {"trade-off": _example.used((2, 3, 4, 5)), "coded rule": _example.used((1, 5)), "in order": (90, 20)}
    return front.draw(np.array(choices, float) / 100, {name: np.array(use) / 100 for name, use in taken.items()}, path)


def window(one: "Front", path: Path) -> list[Path]:
    """The front of one window, among choices drawn at random, with the point that the trade-off takes."""
    from forebay.figures.panels import front

    rng = np.random.default_rng(1)
    choices = []
    for _ in range(3000):
        load = np.zeros(2, np.int64)
        for job in rng.permutation(len(one.demand))[: rng.integers(1, len(one.demand) + 1)]:
            if (load + one.demand[job] <= one.room).all():
                load = load + one.demand[job]
        choices.append(load)
    points, uses = one.exact / one.room, one.exact / one.capacity  # the rule counts in shares of the machine
    best, gain = 0, 0.0
    for k, (nodes, buffer) in enumerate(uses):
        more, less = buffer - uses[0][1], uses[0][0] - nodes
        if more > 2 * less and more > gain:
            best, gain = k, more
    every = np.vstack([np.array(choices) / one.room, points])
    return front.draw(every, {"trade-off": points[best], "most nodes": points[0]}, path, "free ")


def ratios(rows: Sequence[Row], metric: Metric, reference: str, path: Path) -> list[Path]:
    """A metric of every method in every workload, divided by the reference's."""
    from forebay.figures.panels import ratios

    table = [
        (row["workload"], row["policy"], row[f"ratio_{metric.name}"], row[f"half_95_{metric.name}"])
        for row in rows
        if row["policy"] != reference
    ]
    return ratios.draw(table, path, f"{metric.title.partition(' (')[0]}, divided by that of {reference}")


def quality(rows: Sequence[Row], path: Path) -> list[Path]:
    """What the genetic algorithm finds, over generations."""
    from forebay.figures.panels import quality

    return quality.draw(rows, path)
