"""What a policy asks to see beyond what every policy does: what running jobs do, and a workload's own columns."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay.core.limits import USUAL, Manner
from forebay.core.running import IO, NO_LABELS, Labels
from forebay.core.schemas import RECORDED, own_columns
from forebay.core.tables import State
from forebay.engine.io_knowledge.tables import IoKnowledge, of_run
from forebay.engine.truth import Truth
from forebay.errors import InputError, brief, nearest
from forebay.platforms.platform import Platform
from forebay.platforms.storage import files_of, stores_of
from forebay.workload.workload import Workload

KNOWN_IO = "what is known of jobs' reads and writes"
STEERS = "transfers under its hand"


class Wishes(NamedTuple):
    """What a run's State holds besides, and the names of it."""

    io: bool
    columns: np.ndarray  # float64[job, k]; NaN = not known
    labels: Labels
    known_io: IoKnowledge | None = None
    manner: Manner = USUAL
    steers: bool = False  # whether it weighs, holds and caps transfers

    def steered(self) -> bool:
        """Whether transfers may be held, or have weights."""
        return self.steers or bool(self.manner.io)

    def asks(self) -> bool:
        """Whether the tables of a run are others because of it."""
        return bool(self.seen()) or self.manner != USUAL

    def seen(self) -> set[str]:
        """What it sees besides: columns by their names."""
        return {
            *self.labels.columns,
            *([IO] if self.io else []),
            *([] if self.known_io is None else [KNOWN_IO]),
            *([STEERS] if self.steers else []),
        }


NO_WISHES = Wishes(False, np.zeros((0, 0)), NO_LABELS)


def wishes_of(policy: Any, name: str, workload: Workload, platform: Platform) -> Wishes:
    """What a policy declares in `needs`, `columns` and `codes`; one in plain Python may read every column anyway."""
    needs = tuple(getattr(policy, "needs", ()))
    unknown = [word for word in needs if word != IO]
    if unknown:
        raise InputError(f"policy {name!r} needs {brief(unknown[0])}; all that a policy can ask for there is {IO!r}")
    numbers, codes = (tuple(getattr(policy, kind, ())) for kind in ("columns", "codes"))
    compiled = policy.kernel() if hasattr(policy, "kernel") else None
    own = own_columns(workload.jobs.schema) if numbers or codes or compiled is None else []
    own = [column for column in own if column not in RECORDED]
    for column in (*numbers, *codes):
        _check_column(workload, name, column, own, codes)
    chosen = (*numbers, *codes) if compiled is not None else tuple(own)
    words = {column: words_of(workload, column) for column in chosen if workload.jobs.schema[column] == pl.String}
    values = [_values(workload, column, words) for column in chosen]
    fabric, files = platform.fabric(), files_of(platform.tiers)
    tiers = [tier.name for tier in ([] if files is None else [files])] + [t.name for t in stores_of(platform.tiers)]
    labels = Labels(fabric.names, tuple(tiers), chosen, words)
    return Wishes(
        IO in needs,
        np.column_stack(values) if values else np.zeros((0, 0)),
        labels,
        steers=bool(getattr(policy, "steers", False)),
    )


def check_own(workload: Workload, platform: Platform) -> None:
    """Refuse a column that the machine takes for a demand and the workload for something else."""
    for column in own_columns(workload.jobs.schema):
        if column in (*platform.asked, *platform.inside):
            raise InputError(
                f"{workload.name}: {column} holds {workload.jobs.schema[column]}, and {platform.name} has a resource "
                f"of that name; give whole numbers (Int64) for what jobs ask of it, or rename the column"
            )


def _check_column(workload: Workload, policy: str, column: str, own: list[str], codes: tuple[str, ...]) -> None:
    """Refuse a policy that reads a column which is not there, or holds something else."""
    if column not in own:
        there = nearest(column, own) if own else "it has none of its own"
        raise InputError(f"policy {policy!r} reads a column {column!r}, which {workload.name} lacks: {there}")
    text = workload.jobs.schema[column] == pl.String
    if text and column not in codes:
        example = workload.jobs[column].drop_nulls().head(1).to_list()
        shown = f" such as {brief(example[0])}" if example else ""
        raise InputError(
            f"policy {policy!r} reads numbers from column {column!r}, and {workload.name} has text there{shown}; give "
            f"numbers, or let the policy name it in codes = ({column!r},)"
        )
    if not text and column in codes:
        raise InputError(
            f"policy {policy!r} reads codes of words from column {column!r}, and {workload.name} has numbers there; "
            "name it in columns instead"
        )


def words_of(workload: Workload, column: str) -> tuple[str, ...]:
    """What the codes of a column of text stand for: its words in order."""
    return tuple(workload.jobs[column].drop_nulls().unique().sort().to_list())


def _values(workload: Workload, column: str, words: dict[str, tuple[str, ...]]) -> np.ndarray:
    """A column as floats: numbers, or codes of words."""
    values = workload.jobs[column]
    if column in words:
        code = {word: k for k, word in enumerate(words[column])}
        return np.array([code.get(word, -1) for word in values], np.float64)
    return values.fill_null(np.nan).to_numpy()


def sizes_of(wishes: Wishes, n_ways: int) -> dict[str, int]:
    """How large tables of State are."""
    n_links, n_tiers = (len(wishes.labels.links), len(wishes.labels.tiers)) if wishes.io else (0, -1)
    return {
        "told_links": n_links,
        "told_tiers": n_tiers,
        "told_ways": max(n_ways, 1),
        "columns": wishes.columns.shape[1],
        "known_io": len(of_run(wishes.known_io).jobs),
    }


def fulfil(wishes: Wishes, state: State, truth: Truth, platform: Platform) -> None:
    """Fill in what never changes; columns of a job are shown when it arrives."""
    truth.columns[:] = wishes.columns if len(truth.columns) else truth.columns
    if not wishes.io:
        return
    fabric, tiers, io = platform.fabric(), wishes.labels.tiers, state.io
    io.links["capacity"] = fabric.capacity
    io.tiers["resource"] = [platform.resources.index(name) if name in platform.resources else -1 for name in tiers]
    has_files = files_of(platform.tiers) is not None
    io.stores[0] = 0 if has_files else -1
    if len(tiers) > has_files:
        io.stores[1] = int(has_files)  # without a choice all run in way 0, on the first store
    for way, tier in enumerate(fabric.ways[: len(io.stores) - 1]):
        if len(io.stores) > 2:
            io.stores[1 + way] = tiers.index(tier.name)
