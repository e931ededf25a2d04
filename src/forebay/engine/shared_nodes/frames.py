"""Jobs on shared nodes, in results."""

import numpy as np
import polars as pl

from forebay.engine.driver.history import Record
from forebay.engine.results.left import Left
from forebay.engine.results.words import words
from forebay.engine.truth import Truth

PLACING = ("together", "spread", "alone together", "alone")
"""How the parts of a job are placed on shared nodes: where there is room, or each on a node of its own; and the same on
nodes that the job has to itself."""


def asked_of(truth: Truth) -> np.ndarray:
    """What each job asks for, in what ids of nodes count."""
    if not len(truth.asks):
        return truth.jobs["nodes"].copy()
    most: np.ndarray = np.maximum.reduceat(truth.demands[:, 0], truth.jobs["leg"])
    return most


def parts_of(truth: Truth) -> dict[str, np.ndarray]:
    """The parts of each job on shared nodes, and how they are placed."""
    if not len(truth.asks):
        return {"parts": truth.asks, "placing": truth.asks}
    first, parts = truth.asks[truth.jobs["leg"]], truth.asks["parts"]  # a leg may have none
    placing = 2 * (first["exclusive"] != 0) + (first["spread"] != 0)
    return {"parts": np.maximum.reduceat(parts, truth.jobs["leg"]), "placing": placing}


def shared_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """The nodes of which each job had a part, its parts, and how they are placed; None where nodes are not shared."""
    if not len(left.cores):
        return None
    job, placed = record.log["job"][record.placements["row"]].astype(np.int64), record.placements
    low, high = (np.searchsorted(left.cores, placed[end], side="right") - 1 for end in ("low", "high"))
    across = high - low + 1
    node = np.repeat(low - np.concatenate([[0], np.cumsum(across)[:-1]]), across) + np.arange(across.sum())
    pairs = np.unique(np.repeat(job, across) * len(left.cores) + node)
    nodes, placing = np.bincount(pairs // len(left.cores), minlength=len(left.jobs)), enumerate(PLACING)
    return pl.DataFrame({"nodes": nodes, "parts": left.parts, "placing": words(left.placing, placing)})
