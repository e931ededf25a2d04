"""What failures and interrupts did to jobs, in results."""

import numpy as np
import polars as pl

from forebay.core.codes import LogKind, LogReason
from forebay.engine.driver.history import Record
from forebay.results import spent


def may_have_broken_off(record: Record) -> bool:
    """Whether anything at all speaks for failures or interrupts."""
    if (record.log["kind"] == LogKind.NODE_DOWN).any():
        return True
    reasons = (LogReason.NODE_DOWN, LogReason.INTERRUPTED, LogReason.SAVE, LogReason.RECOVER)
    return bool(np.isin(record.log["reason"], reasons).any())


def with_attempts(jobs: pl.DataFrame, log: pl.DataFrame) -> pl.DataFrame:
    """The job table with what failures and interrupts did to each job; as it is, if there were none."""
    kind, reason = pl.col("kind"), pl.col("reason")
    broken_off = (kind == "end") & reason.is_in(["node_down", "interrupted"])
    if not log.select(((kind == "node_down") | reason.is_in(["save", "recover"]) | broken_off).any()).item():
        return jobs
    row = jobs.select(pl.col("job_id").alias("job")).with_row_index("place")
    starts = log.filter(pl.col("kind") == "start").select("job").join(row, on="job", maintain_order="left")
    pieces = spent(log).join(row, on="job", maintain_order="left")
    n_attempts = np.bincount(starts["place"].to_numpy(), minlength=jobs.height)
    length = (pieces["end"] - pieces["start"]).to_numpy()

    def seconds(*what: str) -> pl.Series:
        chosen = pieces["what"].is_in(what).to_numpy()
        total = np.bincount(pieces["place"].to_numpy()[chosen], length[chosen], jobs.height)
        return pl.Series(np.where(n_attempts > 0, total, np.nan)).fill_nan(None)

    return jobs.with_columns(
        n_attempts=pl.Series(n_attempts),
        lost_time=seconds("lost_to_failures", "lost_to_policy"),
        checkpoint_time=seconds("checkpoint"),
        recovery_time=seconds("recovery"),
    )
