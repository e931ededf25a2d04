"""How good predictions are: at many moments of a trace, held against what came, beside what others would have said."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from forebay._predict import _given
from forebay._predict._calibration import Calibration
from forebay._predict._given import How
from forebay._predict._quantiles import BANDS, LEVELS, MEDIAN
from forebay._predict._scoring import Guess, at_once, guesses, measures, moments_of
from forebay._predict._scoring import How as Played
from forebay._predict._world import World
from forebay._support.files import as_path, replacing, writable_folder
from forebay._support.paper import InPapers, Table
from forebay._support.progress import following
from forebay._support.text import as_json, counted, html_table, write_csv
from forebay.errors import InputError
from forebay.figures import InFigures
from forebay.metrics._numbers import number, percent, seconds
from forebay.workload.names import called

if TYPE_CHECKING:
    from forebay.figures._plan import Plan

FORMAT = 1
OURS = "predicted"


@dataclass(frozen=True)
class Reliability(InFigures, InPapers):
    """Predictions held against what came.

    Parameters
    ----------
    numbers
        `coverage` of intervals by their share, `median_absolute_error`, `mean_absolute_error` in seconds,
        `median_factor` by which a median is off, and the same for each of the `baselines`.
    by
        Tables of the same: by `size` and, where the trace has them, by `queue`.
    levels
        A row a level: the share of waits that were over by then.
    jobs
        A row a prediction.
    facts
        What it rests on.
    """

    numbers: Mapping[str, Any]
    by: Mapping[str, pl.DataFrame]
    levels: pl.DataFrame
    jobs: pl.DataFrame
    facts: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """All of it but for its jobs, as `forebay predict --score --format json` answers."""
        return {
            "format": FORMAT,
            **self.facts,
            **self.numbers,
            "in_words": self.sentences(),
            "by": {name: table.to_dicts() for name, table in self.by.items()},
            "levels": self.levels.to_dicts(),
        }

    @property
    def table(self) -> pl.DataFrame:
        """A row a prediction, as `jobs` has them."""
        return self.jobs

    def sentences(self) -> list[str]:
        """What is to be read first."""
        shares = ", ".join(
            f"{100 * value:.0f} % by those of {100 * float(share):.0f} %"
            for share, value in self.numbers["coverage"].items()
        )
        off = seconds(self.numbers["median_absolute_error"])
        slurm = seconds(self.numbers["baselines"]["slurm"]["median_absolute_error"])
        return [
            f"Of {counted(self.facts['moments'], 'wait')} intervals covered {shares}.",
            f"The median was off by {off} in the middle; walltimes alone (Slurm's way) by {slurm}.",
        ]

    def for_papers(self) -> Table:
        """A row for us and for each baseline."""
        rows = []
        for name, found in ((OURS, self.numbers), *self.numbers["baselines"].items()):
            shares = [percent(value) for value in found["coverage"].values()]
            rows.append(
                [
                    name,
                    *shares,
                    seconds(found["median_absolute_error"]),
                    seconds(found["mean_absolute_error"]),
                    number(found["median_factor"]),
                ]
            )
        titles = ["", "in 50 %", "in 80 %", "in 90 %", "median\nerror", "mean\nerror", "factor"]
        facts = self.facts
        who = f"{counted(facts['moments'], 'wait')} of {facts['workload']} under {facts['policy']}"
        caption = f"{who}, {facts['futures']} futures each"
        return Table(titles, rows, range(1, len(titles)), caption)

    def groups(self) -> list[Table]:
        """By size and the like."""
        made = []
        for name, table in self.by.items():
            rows = [
                [
                    str(row[name]),
                    f"{row['waits']:,}",
                    *(percent(row[f"in_{share}"]) for share in (50, 80, 90)),
                    seconds(row["median_error"]),
                    seconds(row["slurm_median_error"]),
                ]
                for row in table.iter_rows(named=True)
            ]
            titles = [name, "waits", "in 50 %", "in 80 %", "in 90 %", "median\nerror", "Slurm's\nway"]
            made.append(Table(titles, rows, range(1, len(titles)), f"The same by {name}"))
        return made

    def plot(self, figure: str = "reliability", ax: Any = None, width: str | float | None = None) -> Any:
        """Draw the shares of waits that were over by each level, as `forebay.figures.plot` takes `ax` and `width`."""
        from forebay.figures import _plan

        return _plan.fill(self._plan(figure), ax, width)

    def _drawn_of(self) -> Mapping[str, Any]:
        return self.facts

    def _plan(self, figure: str = "reliability") -> "Plan":
        from forebay.errors import InputError
        from forebay.figures.panels.times import reliability

        if figure != "reliability":
            raise InputError(f"there is no figure {figure!r} of a reliability: known: reliability")
        return reliability.plan(self.levels)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write reliability.json, predictions.csv and the figure to a folder; gives the files."""
        from forebay.figures import _plan
        from forebay.figures.panels.times import reliability

        place = writable_folder(as_path(folder, "the folder to write to"))
        files = [place / "reliability.json", place / "predictions.csv"]
        with replacing(*files) as (document, rows):
            document.write_text(as_json(self.document()) + "\n", encoding="utf-8")
            write_csv(self.jobs, rows)
        return [*files, *_plan.save(reliability.plan(self.levels), place / "reliability.svg")]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        share, off = self.numbers["coverage"]["0.9"], seconds(self.numbers["median_absolute_error"])
        what = f"90 % intervals cover {100 * share:.1f} %, medians are {off} off"
        return f"<Reliability on {self.facts['workload']}: {what}>"

    def _repr_html_(self) -> str:
        return html_table(self.caption, [(row[0], ", ".join(row[1:])) for row in self.for_papers().rows])


FUTURES = 30
_WARM = 0.1
"""The first part of a trace is to learn from."""
_SIZES = (1, 2, 8, 32, 128, 512)


def reliability(
    workload: Any,
    platform: Any = None,
    policy: Any = None,
    moments: int = 200,
    **how: Unpack[How],
) -> Reliability:
    """Predict at many moments of a trace, never looking ahead, and hold it against what came.

    Each moment is the submission of a job that had to wait; the first tenth of the trace is to learn from. Predictions
    that have come true by a moment calibrate those made then.

    Parameters
    ----------
    workload
        A trace.
    platform
        The machine, as `forebay.simulate` takes it.
    policy
        Who decides, as `forebay.simulate` takes it.
    moments
        How many waits are predicted.
    **how
        As for `forebay.predict`: `recorded`, `futures` (30 for each moment), `estimator`, `seed`, `job_model`,
        `progress`.

    Examples
    --------
    >>> fb.reliability("table1", policy="fcfs", moments=2, futures=5).facts["moments"]
    2
    """
    manner = _given.manner(dict(how), FUTURES)
    _given.count(moments, "moments", 1)
    world = _given.world_of(workload, platform, policy, manner, None)
    first, last = float(world.submit[0]), float(world.submit[-1])
    jobs = moments_of(world, moments, first + _WARM * (last - first), last, manner.seed)
    if not len(jobs):
        raise InputError(f"{world.workload.name}: no job had to wait under this policy: there is nothing to predict")
    with following(manner.progress, "score", len(jobs)) as call:
        watch = (lambda n: call(n, len(jobs))) if call is not None else (lambda _: None)
        made = guesses(world, jobs, Played(manner.futures, manner.estimator, manner.seed), Calibration(), watch)
    known = [one for one in made if not np.isnan(world.start[one.job])]
    if not known:
        raise InputError(f"{world.workload.name}: none of these jobs ever started: there is nothing to score")
    return _scored(world, known, manner)


def _scored(world: World, made: list[Guess], how: _given.Manner) -> Reliability:
    truth = np.array([world.start[one.job] - one.time for one in made])
    every = {
        "predicted": np.stack([one.found for one in made]),
        "slurm": np.stack([at_once(one.slurm) for one in made]),
        "similar": np.stack([one.similar for one in made]),
        "recent": np.stack([one.recent for one in made]),
    }
    ours, *others = (measures(found, truth) for found in every.values())
    w, site = world.workload, world.site
    facts = {
        "workload": w.name,
        "platform": site.platform.name,
        "policy": site.policy if isinstance(site.policy, str) else type(site.policy).__name__,
        "recorded": how.recorded,
        "moments": len(made),
        "futures": how.futures,
        "seed": how.seed,
    }
    numbers = {**ours, "baselines": dict(zip(list(every)[1:], others, strict=True))}
    shares = [float((truth <= every["predicted"][:, place]).mean()) for place in range(len(LEVELS))]
    levels = pl.DataFrame({"level": LEVELS, "observed": shares})
    return Reliability(numbers, _by(world, made, every, truth), levels, _rows(world, made, truth), facts)


def _rows(world: World, made: list[Guess], truth: np.ndarray) -> pl.DataFrame:
    jobs = np.array([one.job for one in made])
    found = np.stack([one.found for one in made])
    columns = {"job_id": world.workload.jobs["id"].to_numpy()[jobs], "time": [one.time for one in made], "wait": truth}
    columns |= {f"p{level * 100:02.0f}": found[:, place] for place, level in enumerate(LEVELS)}
    columns |= {"slurm": [one.slurm for one in made]}
    columns |= {name: np.stack([getattr(one, name) for one in made])[:, MEDIAN] for name in ("similar", "recent")}
    return pl.DataFrame(columns)


def _by(world: World, made: list[Guess], every: dict[str, np.ndarray], truth: np.ndarray) -> dict[str, pl.DataFrame]:
    """Tables by size and by queue."""
    rows = np.array([one.job for one in made])
    jobs = world.workload.jobs
    nodes, queue = jobs["nodes"].to_numpy()[rows], jobs["queue"].to_numpy()[rows]
    place = np.searchsorted(_SIZES, nodes, "right") - 1
    words = [_size(one) for one in range(len(_SIZES))]
    tables = {"size": [(words[one], place == one) for one in np.unique(place)]}
    if len(np.unique(queue)) > 1:
        names = world.workload.names
        tables["queue"] = [(called(names, "queue", int(one)), queue == one) for one in np.unique(queue)]
    return {
        name: pl.DataFrame([_group(name, word, every, truth, mine) for word, mine in some])
        for name, some in tables.items()
    }


def _size(place: int) -> str:
    """Nodes of a class: "2 to 7"."""
    low = _SIZES[place]
    if place + 1 == len(_SIZES):
        return f"{low} or more"
    high = _SIZES[place + 1] - 1
    return f"{low}" if low == high else f"{low} to {high}"


def _group(name: str, word: str, every: dict[str, np.ndarray], truth: np.ndarray, mine: np.ndarray) -> dict[str, Any]:
    ours, slurm = (measures(every[kind][mine], truth[mine]) for kind in ("predicted", "slurm"))
    coverage: Any = ours["coverage"]
    inside = {f"in_{100 * share:.0f}": coverage[f"{share:g}"] for share in BANDS}
    errors = {"median_error": ours["median_absolute_error"], "slurm_median_error": slurm["median_absolute_error"]}
    return {name: word, "waits": int(mine.sum()), **inside, **errors}
