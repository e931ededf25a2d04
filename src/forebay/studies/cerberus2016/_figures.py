"""The figures of the paper, by their numbers there, and those of what goes beyond it; each with its data as CSV."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.experiments.runs import workload_of
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Row

if TYPE_CHECKING:
    import numpy as np

    from forebay.studies.cerberus2016._plan import Scope

FIGURES: dict[str, dict[str, tuple[str, ...]]] = {
    "march": {
        "fig-01-response-io-or-buffer": ("io-only", "three-phase-iro"),
        "fig-03-response-phases": ("one-phase", "three-phase-d", "three-phase-iro"),
    },
    "april": {"knapsack-response": ("three-phase-iro", "throughput", "parallelism")},
}
"""Response times of these variants in one picture; the throughput of each is in another, of the next number."""
THROUGHPUT = {
    "fig-01-response-io-or-buffer": "fig-02-throughput-io-or-buffer",
    "fig-03-response-phases": "fig-04-throughput-phases",
    "knapsack-response": "knapsack-throughput",
}


def version(scope: "Scope", name: str, finished: Finished, made: Report) -> None:
    """Figs 1 to 4 for March, the knapsacks for April: the first draw."""
    first = {run.tags["policy"]: (run, record) for run, record in finished if run.tags["draw"] == 0}
    for figure, variants in FIGURES[name].items():
        shown = [variant for variant in variants if variant in first] or list(first)
        responses, ends = {}, {}
        for variant in shown:
            run, record = first[variant]
            title = scope.settings.variants[variant].title
            responses[title] = record.measures["turnaround_time"]
            ends[title] = responses[title] + workload_of(run.jobs).jobs["submit"].to_numpy()
        with made.drawn_of([first[variant] for variant in shown]):
            made.figures[figure] = partial(_responses, responses)
            made.figures[THROUGHPUT[figure]] = partial(_throughput, ends)


def _responses(values: "dict[str, np.ndarray]", path: Path) -> list[Path]:
    from forebay.figures.panels import shares

    return shares.draw(values, path, "response time", "share of jobs that\nrespond within it")


def _throughput(ends: "dict[str, np.ndarray]", path: Path) -> list[Path]:
    from forebay.figures.panels.timelines import throughput

    return throughput.draw(ends, path)


def shared(rows: list[Row]) -> Callable[[Path], list[Path]]:
    """Responses by how many jobs a link carries at full speed."""
    return partial(_shared, rows)


def _shared(rows: list[Row], path: Path) -> list[Path]:
    from forebay.figures.panels import lanes

    # Where all variants move the volumes generated, their titles need not say so.
    short = [{**row, "variant": row["variant"].removesuffix(", volumes generated")} for row in rows]
    return lanes.draw(short, path)
