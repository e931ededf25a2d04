"""Per-job results of the authors, repeated: their inputs are recovered from what each phase took."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.errors import InputError, listed
from forebay.studies import _data
from forebay.studies.cerberus2016._settings import lane, settings
from forebay.workload.models.three_phase import Volumes, convert
from forebay.workload.workload import Workload

COLUMNS = ("id", "submit", "input", "run", "output", "complete")
"""What is needed of a file; the waits in between are ours to find."""
_WORDS = {
    "march": ("march", "old"),
    "april": ("april", "new"),
    "io": ("io", "1pio", "direct"),
    "one-phase": ("one", "1", "1p", "1pbb", "bb"),
    "three-phase": ("three", "3", "3p", "cerberus", "plain", "iro", "d"),
}
_KNAPSACK = ("maxt", "maxp", "maxbb", "maxparallel", "throughput", "parallelism")
_STEP = 1e6  # volumes are whole megabytes, whatever the last bits of a duration say


class Replayed(NamedTuple):
    """Completion times of every job, in seconds."""

    ours: NDArray[np.float64]
    theirs: NDArray[np.float64]


def replay(path: Path, variant: str | None, trace: Path | None) -> Replayed:
    """Run what a file describes, as its authors ran it."""
    from forebay._run.simulate import simulate
    from forebay.workload import read

    version, system = parse_variant(variant or path.stem)
    table = _read(path)
    log = read(_trace() if trace is None else trace)
    jobs = table.join(log.jobs.drop("submit"), on="id", how="left", maintain_order="left")
    lost = jobs.filter(pl.col("nodes").is_null())
    if len(lost):
        raise InputError(f"{path}: job {lost['id'][0]} is not in {log.name}; name the log it was made from")
    jobs = jobs.sort("submit", "id")
    volumes = _volumes(path, jobs, version, system)
    stated = volumes
    if system == "one-phase":
        # In April's program a one-phase job holds what it brings in, which is a thousandth of what it asks for.
        stated = Volumes(*[volumes.data_in if version == "april" else volumes.largest()] * 3)
    workload = convert(_workload(path, jobs.select(log.jobs.columns)), volumes, stated, version=version, system=system)
    chosen = settings()
    policy = f"cerberus-fcfs:service={chosen.service(version)}" if system == "three-phase" else "fcfs"
    result = simulate(workload, platform_of(system), policy, job_model=chosen.job_model)
    finish = result.jobs.select(id=pl.col("job_id").cast(pl.Int64), finish="finish_time")
    both = table.join(finish, on="id", how="left", maintain_order="left")
    return Replayed(both["finish"].to_numpy(), both["complete"].to_numpy())


def platform_of(system: str) -> str:
    """The machine that a system runs on."""
    return "trinity-io" if system == "io" else "trinity"


def parse_variant(text: str) -> tuple[str, str]:
    """Version and system of a name such as march/three-phase, april_cerberus_fcfs or `old 1pbb`."""
    words = re.split(r"[^a-z0-9]+", text.lower())
    if any(word in _KNAPSACK for word in words):
        raise InputError(
            f"{text!r}: runs by knapsack cannot be repeated: the authors' program rounds demands down, and so gives "
            "out more than there is; name a run in order of arrival"
        )
    found = {name: any(word in of_it for word in words) for name, of_it in _WORDS.items()}
    version = [name for name in ("march", "april") if found[name]]
    system = next((name for name in ("io", "one-phase", "three-phase") if found[name]), None)
    if len(version) != 1 or system is None:
        raise InputError(
            f"{text!r} does not say what was run; give a variant such as march/three-phase: march or april, and io, "
            "one-phase or three-phase"
        )
    return version[0], system


def _read(path: Path) -> pl.DataFrame:
    try:
        table = pl.read_csv(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: cannot be read as CSV ({str(error).partition(chr(10))[0]})") from None
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"{path}: line 1: lacks the column {listed(missing)}; a file of results has {listed(COLUMNS)}")
    numbers = table.select(pl.col(name).cast(pl.Float64, strict=False) for name in COLUMNS)
    for name in COLUMNS:
        wrong = (~numbers[name].is_finite().fill_null(False) | (numbers[name] < 0).fill_null(True)).arg_true()
        if len(wrong):
            raise InputError(f"{path}: line {wrong[0] + 2}: {name} is {table[name][int(wrong[0])]!r}; give a number")
    table = numbers.with_columns(pl.col("id").cast(pl.Int64))
    twice = table.filter(pl.col("id").is_duplicated())
    if len(twice) or not len(table):
        what = f"job {twice['id'][0]} occurs twice" if len(twice) else "no jobs"
        raise InputError(f"{path}: {what}; is this a whole file of results?")
    return table


def _trace() -> Path:
    name = settings().trace
    found = _data.find([(name, (f"swf/{name}", name))], None)
    if found is None:
        raise InputError(f"{name} is needed for sizes and run times; name it, or its folder in FOREBAY_DATA")
    return found[name]


def _volumes(path: Path, jobs: pl.DataFrame, version: str, system: str) -> Volumes:
    """Bytes moved, from the seconds that each phase took. April's runs fetch their input, and drain their output."""
    rate = lane(platform_of(system))
    inwards, outwards = jobs["input"].to_numpy(), jobs["output"].to_numpy()
    extra = jobs["run"].to_numpy() - jobs["run_time"].to_numpy()
    if version == "april" and system == "three-phase":  # its stage-out drains nodes, then the buffer
        outwards = outwards / 2
        extra = extra - inwards
    elif version == "april" and system == "one-phase":
        extra = extra - inwards - outwards
    if (extra < -1e-6).any():
        job = jobs["id"][int(np.argmax(extra < -1e-6))]
        raise InputError(f"{path}: job {job} runs shorter than it computes; is this a run of {version}/{system}?")
    return Volumes(*(_whole(seconds * rate) for seconds in (inwards, np.maximum(extra, 0.0), outwards)))


def _whole(volume: NDArray[np.float64]) -> NDArray[np.int64]:
    steps: NDArray[np.int64] = np.rint(volume / _STEP).astype(np.int64) * int(_STEP)
    return steps


def _workload(path: Path, jobs: pl.DataFrame) -> Workload:
    return Workload(path.stem, jobs, records=len(jobs), provenance=(str(path.name),))
