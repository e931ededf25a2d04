"""Three and a half made-up weeks of a 96-node machine with 480 GB of burst buffer, for first runs, tests and examples.

Only uniform draws are taken from the generator, and inverted here, so that every version of numpy makes the same jobs.
The burst buffer per node follows the log-normal that Kopański & Rządca (2021) fitted on METACENTRUM-2013-3.
"""

import numpy as np
from numpy.typing import NDArray

from forebay.workload.workload import Workload, job_table

DESCRIPTION = "3,000 made-up jobs for 96 nodes and 480 GB of burst buffer, at 88 % load"

_Floats = NDArray[np.float64]

N_JOBS, N_NODES, N_USERS = 3000, 96, 60
BURST_BUFFER = 480 * 10**9
LOAD = 0.88
SEED = 20210826
EPOCH = 1704067200.0  # 1 January 2024, 00:00 UTC

_HOUR = 3600.0
_ACTIVITY = np.array([3, 2, 2, 2, 2, 2, 3, 5, 9, 13, 15, 15, 12, 13, 15, 15, 14, 11, 8, 6, 5, 5, 4, 4]) / 24  # by hour
_POPULAR = np.array([300, 900, 1800, *(_HOUR * np.array([1, 2, 4, 8, 12, 24]))])  # what users type


def make() -> Workload:
    """The jobs, the same on every call."""
    u = np.random.Generator(np.random.PCG64(SEED)).random((11, N_JOBS))
    nodes = _sizes(u[0], u[1], u[2])
    run = np.clip(np.rint(420 * nodes**0.25 * np.exp(1.9 * _normal(u[3], u[4]))), 10, 24 * _HOUR)
    walltime = _requests(run, u[5], u[6])
    span = (nodes * np.minimum(run, walltime)).sum() / (N_NODES * LOAD)
    by_activity = np.cumsum(1 / np.arange(1, N_USERS + 1))  # Zipf: the second busiest user half as busy as the first
    user = 1 + np.searchsorted(by_activity / by_activity[-1], u[8], side="right")
    jobs = job_table(
        {
            "id": np.arange(1, N_JOBS + 1),
            "submit": _arrivals(u[7], span),
            "walltime": walltime,
            "run_time": run,
            "nodes": nodes,
            "user": user,
            "group": 1 + user % 8,
            "burst_buffer": _burst_buffers(nodes, walltime, _normal(u[9], u[10])),
        }
    )
    return Workload(
        "default",
        jobs,
        epoch=EPOCH,
        platform=f"flat:nodes={N_NODES},burst_buffer={BURST_BUFFER // 10**9}GB",
        records=N_JOBS,
        provenance=(f"embedded workload default (made up, seed {SEED})",),
    )


def _normal(u: _Floats, v: _Floats) -> _Floats:
    """Standard normal draws (Box & Muller 1958)."""
    result: _Floats = np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)
    return result


def _sizes(kind: _Floats, shape: _Floats, size: _Floats) -> NDArray[np.int64]:
    """24 % serial; of the rest, three in four a power of two; small ones more often than large ones."""
    exponent = 0.6 + (np.log2(N_NODES) - 0.6) * size**1.6
    nodes = np.where(shape < 0.75, 2 ** np.maximum(np.rint(exponent), 1), np.maximum(np.rint(2**exponent), 2))
    return np.where(kind < 0.24, 1, np.minimum(nodes, N_NODES)).astype(np.int64)


def _requests(run: _Floats, kind: _Floats, slack: _Floats) -> _Floats:
    """Most ask for a popular value well above their run time, 15 % know it within 5 %, some 3 % ask for too little."""
    rounded = _POPULAR[np.minimum(np.searchsorted(_POPULAR, run * (1 + 4 * slack**2)), len(_POPULAR) - 1)]
    exact = np.minimum(60 * np.ceil(run * (1 + 0.05 * slack) / 60), _POPULAR[-1])
    short = _POPULAR[np.maximum(np.searchsorted(_POPULAR, run) - 1, 0)]
    return np.where(kind < 0.15, exact, np.where((kind > 0.95) & (run > _POPULAR[0]), short, rounded))


def _arrivals(u: _Floats, span: float) -> _Floats:
    """Poisson arrivals over `span` seconds whose rate follows the hour of the day: exponential gaps in busy-time."""
    clock = _HOUR * np.arange(np.ceil(span / _HOUR) + 1)
    busy = np.concatenate(([0.0], np.cumsum(np.resize(_ACTIVITY, len(clock) - 1))))
    gaps = -np.log1p(-u)
    gaps[0] = 0.0
    submit: _Floats = np.interp(np.cumsum(gaps) / gaps.sum() * np.interp(span, clock, busy), busy, clock)
    return np.floor(submit)


def _burst_buffers(nodes: NDArray[np.int64], walltime: _Floats, normal: _Floats) -> NDArray[np.int64]:
    """Bytes of the whole job; one that asks for two minutes or less is a test and takes 10 MB a node."""
    kibibytes = -150361.59523836235 + 2714115.5724594607 * np.exp(1.0972516604048774 * normal)
    per_node = np.where(walltime <= 120, 10e6, np.clip(1024 * kibibytes, 100e6, 40e9))
    total: NDArray[np.int64] = np.rint(per_node).astype(np.int64) * nodes
    return np.minimum(total, BURST_BUFFER)
