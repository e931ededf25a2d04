"""What crossed the links, and what staging took, in results."""

import numpy as np
import polars as pl

from forebay.core.codes import LogKind, LogReason
from forebay.engine.driver.history import Record
from forebay.engine.results.left import Left

_LINKS = pl.DataFrame(schema={"link": pl.String, "capacity": pl.Float64, "bytes": pl.Float64})


def links_frame(left: Left, names: tuple[str, ...]) -> pl.DataFrame:
    """What crossed each shared link; no rows where nothing moved."""
    links = left.links
    if not len(links):
        return _LINKS.clone()
    links = links[: len(names)]  # behind them are nodes' own devices
    return pl.DataFrame({"link": names, "capacity": links["capacity"], "bytes": links["bytes"]}, schema=_LINKS.schema)


def _phase_times(log: np.ndarray, n_jobs: int, kind: LogReason) -> np.ndarray:
    """Seconds that each job spent in phases of a kind that one job goes through one after the other."""
    rows = log[log["reason"] == kind]
    begun, ended = rows[rows["kind"] == LogKind.BEGIN_PHASE], rows[rows["kind"] == LogKind.END_PHASE]
    begun, ended = (part[np.argsort(part["job"], kind="stable")] for part in (begun, ended))
    return np.bincount(begun["job"], ended["time"] - begun["time"], n_jobs)


def staging_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """What staging took of each job's time, null for jobs that did none; None if nobody did any."""
    if not left.logged.any():
        return None
    n_jobs = len(left.jobs)
    first_leg = left.jobs["last_leg"] - left.number  # of the way it ran
    legs = record.rows(left.logged[first_leg[record.log["job"]] + record.log["leg"]] != 0)
    held = np.zeros(n_jobs)  # seconds that legs with staging ran
    for kind, sign in ((LogKind.START, -1), (LogKind.END, 1)):
        rows = legs[legs["kind"] == kind]
        held += sign * np.bincount(rows["job"], rows["time"], n_jobs)
    computes = legs[(legs["kind"] == LogKind.BEGIN_PHASE) & (legs["reason"] == LogReason.COMPUTE)]
    compute_start = np.full(n_jobs, np.nan)
    np.fmin.at(compute_start, computes["job"], computes["time"])
    ran = np.bincount(legs["job"][legs["kind"] == LogKind.START], minlength=n_jobs) > 0
    columns = {
        "stage_in_time": _phase_times(legs, n_jobs, LogReason.STAGE_IN),
        "io_time": np.maximum(held - _phase_times(legs, n_jobs, LogReason.COMPUTE), 0.0),
        "compute_start": compute_start,
    }
    return pl.DataFrame({name: np.where(ran, column, np.nan) for name, column in columns.items()}).fill_nan(None)
