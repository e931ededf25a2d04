"""What running jobs spent their time on, from the log of a run: work, checkpoints, recovery, and what was lost."""

import polars as pl

SPENT = ("useful", "checkpoint", "recovery", "lost_to_failures", "lost_to_policy")
"""What becomes of the time of a running job."""

_NODES = pl.col("resource").cast(pl.String).is_in(["nodes", "cores"])
_KIND, _REASON = pl.col("kind"), pl.col("reason")
_PHASES = ("save", "recover")


def _what(ended: pl.Expr, last: pl.Expr, at_risk: pl.Expr) -> pl.Expr:
    """What a piece of time was, by how its attempt and its job ended."""
    return (
        pl.when(pl.col("doing") == "recover")
        .then(pl.lit("recovery"))
        .when((ended == "interrupted") & at_risk)
        .then(pl.lit("lost_to_policy"))
        .when(((ended == "node_down") & at_risk) | (last == "end node_down"))
        .then(pl.lit("lost_to_failures"))
        .when(pl.col("doing") == "save")
        .then(pl.lit("checkpoint"))
        .otherwise(pl.lit("useful"))
    )


def spent(log: pl.DataFrame) -> pl.DataFrame:
    """A row for each piece of time in which a job did one thing on as many nodes, by job and start.

    Columns: `job`, `start`, `end`, `nodes` and `what`: useful, checkpoint, recovery, lost_to_failures or
    lost_to_policy. What follows the last complete checkpoint of an attempt is lost if a failure or the policy ended
    it; of a job that was given up, work and checkpoints are lost to failures. Waiting is in no row.

    Parameters
    ----------
    log
        Of a Result.

    Examples
    --------
    >>> fb.results.spent(fb.simulate("table1").log).rows()[:2]
    [(1, 0.0, 600.0, 1, 'useful'), (2, 0.0, 240.0, 1, 'useful')]
    """
    rows = _in_attempts(log)
    complete = (_KIND == "end_phase") & (_REASON == "save") & (pl.col("amount") >= 0)
    safe = pl.col("row").filter(complete).last().over("attempt").fill_null(0)
    ended = _REASON.filter(_KIND == "end").last().over("attempt")
    # A job that goes on waits again: a queue row follows.
    last = pl.concat_str("kind", pl.lit(" "), "reason").filter(_KIND.is_in(["end", "queue"])).last().over("job")
    what = _what(ended, last, at_risk=pl.col("row") >= safe)
    return (
        rows.with_columns(what=what.cast(pl.Enum(SPENT)))
        .filter((pl.col("doing") != "wait") & (pl.col("start") < pl.col("end")))
        .select("job", "start", "end", "nodes", "what")
        .collect()
    )


_DOING = (
    pl.when(_KIND == "begin_phase")
    .then(_REASON)
    .when(_KIND.is_in(["start", "end_phase"]))
    .then(pl.lit("work"))
    .when(_KIND.is_in(["end", "queue"]))
    .then(pl.lit("wait"))
)
"""What a job does from a row of the log on; null where that goes on."""


def _in_attempts(log: pl.DataFrame) -> pl.LazyFrame:
    """What changes a job's nodes or what it does, job by job: until when, in which attempt, on how many nodes."""
    change = (
        pl.when(_NODES & _KIND.is_in(["start", "acquire"]))
        .then(pl.col("amount"))
        .when(_NODES & _KIND.is_in(["end", "release"]))
        .then(-pl.col("amount"))
        .otherwise(0)
    )
    return (
        log.lazy()
        .filter(pl.col("job").is_not_null())
        .with_columns(_KIND.cast(pl.String), _REASON.cast(pl.String))
        .with_columns(change=change)
        .filter(
            (pl.col("change") != 0)
            | _KIND.is_in(["start", "end", "queue"])
            | (_KIND.is_in(["begin_phase", "end_phase"]) & _REASON.is_in(_PHASES))
        )
        .sort("job", maintain_order=True)
        .with_row_index("row")
        .select(
            "row",
            "job",
            "kind",
            "reason",
            "amount",
            start="time",
            end=pl.col("time").shift(-1).over("job"),
            attempt=(_KIND == "start").cum_sum(),
            nodes=pl.col("change").cum_sum().over("job"),
            doing=_DOING.forward_fill().over("job"),
        )
    )
