"""Which nodes a job had from when to when: the rectangles of a schedule."""

from collections.abc import Iterator

import polars as pl

from forebay.results import Result

_COLUMNS = {"job": pl.Int64, "first_node": pl.Int64, "last_node": pl.Int64, "start": pl.Float64, "end": pl.Float64}
_NODES = (pl.col("low").cast(pl.Int64).alias("first_node"), pl.col("high").cast(pl.Int64).alias("last_node"))
_GIVES = pl.col("kind").is_in(["end", "release"])


def stays(result: Result) -> pl.DataFrame:
    """A row for each run of neighbouring nodes that a job had for the same time, by job and start.

    Columns: `job`, `first_node`, `last_node`, `start`, `end` (null where the log ends before). From the log alone: a
    job of several legs, or one that gives nodes back early, has several rows for a node, or different ends.

    Examples
    --------
    >>> fb.metrics.stays(fb.simulate("table1")).rows()[:2]
    [(1, 0, 0, 0.0, 600.0), (2, 1, 1, 0.0, 240.0)]
    """
    moves = pl.col("kind").is_in(["start", "acquire", "end", "release"])
    log = (
        result.log.lazy()
        .with_row_index("row")
        .filter((pl.col("resource") == result.unit) & moves & (pl.col("amount") > 0))
        .select("row", "time", "kind", job=pl.col("job").cast(pl.Int64))
    )
    named = result.placements.lazy().join(log, on="row", maintain_order="left")
    kept = named.filter(_GIVES).select("job").unique()
    # Mostly whatever a job gives back is all that it has.
    whole = log.filter(_GIVES).select("row", "job", end="time").sort("row")
    taken = named.filter(~_GIVES).join(kept, on="job", how="anti", maintain_order="left")
    simple = (
        taken.sort("row", maintain_order=True)
        .join_asof(whole, on="row", by="job", strategy="forward", check_sortedness=False)  # both are
        .select("job", *_NODES, start="time", end="end")
        .collect()
    )
    odd = log.join(kept, on="job", how="semi").join(result.placements.lazy(), on="row", how="left").sort("row")
    rows = [
        (job, *piece)
        for (job,), part in odd.collect().group_by("job", maintain_order=True)
        for piece in _pieces(part.select("row", "time", "kind", "low", "high").rows())
    ]
    return _joined(pl.concat([simple, pl.DataFrame(rows, schema=_COLUMNS, orient="row")]))


def _joined(pieces: pl.DataFrame) -> pl.DataFrame:
    """Pieces of one job and time that lie side by side as one: nodes are picked with their servers, some at a time."""
    same = [pl.col(name).eq_missing(pl.col(name).shift(1)) for name in ("job", "start", "end")]
    begins = ~pl.all_horizontal(*same, pl.col("first_node") == pl.col("last_node").shift(1) + 1).fill_null(False)
    return (
        pieces.lazy()
        .sort("job", "start", "end", "first_node", maintain_order=True)
        .group_by(place=begins.cum_sum(), maintain_order=True)
        .agg(pl.first("job", "first_node"), pl.last("last_node"), pl.first("start", "end"))
        .drop("place")
        .collect()
    )


_Piece = tuple[int, int, float, float | None]


def _pieces(rows: list[tuple[int, float, str, int | None, int | None]]) -> Iterator[_Piece]:
    """What one job held, piece by piece, from its changes in order; one without nodes gives back all."""
    held: list[tuple[int, int, float]] = []
    for _, time, kind, low, high in rows:
        if kind in ("start", "acquire"):
            assert low is not None
            assert high is not None
            held.append((low, high, time))
        elif low is None or high is None:
            yield from ((first, last, since, time) for first, last, since in held)
            held = []
        else:
            left: list[tuple[int, int, float]] = []
            for first, last, since in held:
                if last < low or first > high:
                    left.append((first, last, since))
                    continue
                yield max(first, low), min(last, high), since, time
                left += [(a, b, since) for a, b in ((first, low - 1), (high + 1, last)) if a <= b]
            held = left
    yield from ((first, last, since, None) for first, last, since in held)
