"""Numbers of a run: one function a metric, each from a Result to a number or a frame; `summary` gives them all."""

from forebay.metrics._summary import summary
from forebay.metrics.groups import by_column, by_size_class, by_user
from forebay.metrics.jobs import (
    ci95,
    mean,
    mean_bounded_slowdown,
    mean_slowdown,
    mean_turnaround,
    mean_wait,
    percentiles,
    weighted_mean,
)
from forebay.metrics.machine import (
    makespan,
    n_cancelled,
    n_jobs,
    n_killed,
    n_rejected,
    n_started,
    throughput,
    usage,
    utilisation,
)
from forebay.metrics.starvation import (
    n_waiting_over_10_walltimes,
    n_waiting_over_a_day,
    waiting_over,
    waiting_over_walltimes,
)
from forebay.metrics.traffic import link_utilisation, mean_io_time, mean_stage_in_time, moved, pfs_utilisation
from forebay.metrics.window import window, window_by_fraction

__all__ = [
    "by_column",
    "by_size_class",
    "by_user",
    "ci95",
    "link_utilisation",
    "makespan",
    "mean",
    "mean_bounded_slowdown",
    "mean_io_time",
    "mean_slowdown",
    "mean_stage_in_time",
    "mean_turnaround",
    "mean_wait",
    "moved",
    "n_cancelled",
    "n_jobs",
    "n_killed",
    "n_rejected",
    "n_started",
    "n_waiting_over_10_walltimes",
    "n_waiting_over_a_day",
    "percentiles",
    "pfs_utilisation",
    "summary",
    "throughput",
    "usage",
    "utilisation",
    "waiting_over",
    "waiting_over_walltimes",
    "weighted_mean",
    "window",
    "window_by_fraction",
]
