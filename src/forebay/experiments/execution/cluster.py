"""Runs on many machines: the workers of a Dask cluster, found at an address or asked for from Slurm.

A worker carries a run out in a process of its own, with one thread for tables, as this machine does: so rows are the
same, bit by bit, and a run that crashes takes no worker with it. Files of users travel with the runs. Where a worker is
lost, its runs go to others; one that costs one process or worker after another fails, by name.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forebay import _plugins
from forebay.errors import InputError
from forebay.experiments.execution import children, executor
from forebay.experiments.execution.executor import Done, Executor, Failure
from forebay.experiments.execution.slurm_jobs import Watch
from forebay.experiments.runs import Run, bound, files_of, moved
from forebay.experiments.store import code_hash
from forebay.metrics._own.files import named
from forebay.metrics._own.own import is_mark

TIMEOUT = 10.0
"""Seconds for a cluster to answer."""
_AHEAD = 2  # runs sent for each thread of a worker: one that it has, and one for when that is over
_AT_FIRST = 4  # threads, until workers are there
_PLACE = "@files-of-forebay@"
"""Stands in specs for the folder of a worker that has the files; only the worker knows it."""

_SLURM = {"queue": "", "cores": "1", "memory": "4GB", "walltime": "1h", "jobs": "1", "account": ""}
_INSTALL = "clusters need a few more packages: pip install 'forebay[cluster]'"
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Parcel:
    """Files of users, by their full paths, and the hash of the code that is to use them."""

    content: dict[str, bytes]
    code: str


def parcel_of(runs: Iterable[Run]) -> Parcel:
    """Every file that these runs read."""
    distinct: dict[Any, Run] = {}
    for run in runs:
        distinct.setdefault((run.jobs.source, run.jobs.users, run.platform, run.policy, run.failures, run.metrics), run)
    paths = {path for run in distinct.values() for path in files_of(run)}
    return Parcel({str(path): path.read_bytes() for path in sorted(paths)}, code_hash())


@contextmanager
def executing(
    runs: Sequence[Run], jobs: int | None, dask: str | None = None, slurm: str | None = None
) -> Iterator[Executor]:
    """An executor for these runs: processes of this machine, or the cluster that is named."""
    if dask and slurm:
        raise InputError("--dask and --slurm name two clusters; keep one")
    if not dask and not slurm:
        processes = executor.in_processes(jobs or executor.cores())
        yield executor.here_and_there(bound, processes) if any(map(bound, runs)) else processes
        return
    _refuse_bound(runs)
    with _client(dask or "", slurm or "") as (client, watch):
        _check_workers(client)
        yield _on(client, parcel_of(runs), watch)


def _refuse_bound(runs: Sequence[Run]) -> None:
    """Workers elsewhere cannot have what only this process has."""
    if metrics := [one for run in runs for one in named(filter(is_mark, run.metrics))]:
        what = "workers cannot have a metric of a script or notebook; put it into a file, and import or name that"
        raise InputError(f"{metrics[0].title}: {what}")
    if here := next((run for run in runs if bound(run)), None):
        what = "has an object of this process, which workers cannot have; put it into a file, and name that"
        raise InputError(f"{here.name}: {what}")


@contextmanager
def _client(address: str, slurm: str) -> Iterator[tuple[Any, Watch | None]]:
    try:
        import distributed
    except ImportError:
        raise InputError(_INSTALL) from None
    if slurm:
        with (
            _slurm_cluster(slurm) as cluster,
            distributed.Client(cluster) as client,
            Watch(cluster).running() as watch,
        ):
            yield client, watch
        return
    try:
        client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        text = f": {error}" if isinstance(error, ValueError) else ""
        raise InputError(f"--dask {address}: no Dask scheduler answers within {TIMEOUT:g} s{text}; check it") from None
    with client:
        yield client, None


@contextmanager
def _slurm_cluster(text: str) -> Iterator[Any]:
    """Workers as jobs of Slurm; they end with this process. Another job is asked for where one is over before.

    A scheduler of Dask runs whatever it is sent, and so do workers. They are reached over the network, so they talk to
    none but those who have the key, which is made for this command and lies in a file that the user alone can read.
    """
    given = slurm_options(text)
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise InputError(_INSTALL) from None
    from forebay.core.units import parse_seconds

    minutes = max(1, round(parse_seconds(given["walltime"]) / 60))
    options: dict[str, Any] = {
        "cores": int(given["cores"]),
        "processes": 1,
        "memory": given["memory"],
        "walltime": f"{minutes // 60:02}:{minutes % 60:02}:00",
    }
    options |= {key: given[key] for key in ("queue", "account") if given[key]}
    options |= _closed_to_others()
    with SLURMCluster(**options) as cluster:
        count = int(given["jobs"])
        cluster.adapt(minimum_jobs=count, maximum_jobs=count)
        yield cluster


def _closed_to_others() -> dict[str, Any]:
    """How scheduler and workers listen: with TLS; their pages for browsers, which have no key, on this machine alone.

    What the site's configuration of Dask says beside it, such as the network to use, counts as ever.
    """
    import dask
    from distributed.security import Security

    try:
        security = Security.temporary()
    except ImportError:
        raise InputError(_INSTALL) from None
    scheduler = dask.config.get("jobqueue.slurm.scheduler-options", None) or {}
    worker = dask.config.get("jobqueue.slurm.worker-extra-args", None) or []
    return {
        "security": security,
        "protocol": "tls://",
        "shared_temp_directory": os.getcwd(),  # where jobs of Slurm begin
        "scheduler_options": {**scheduler, "dashboard_address": f"{LOOPBACK}:0"},
        "worker_extra_args": [*worker, "--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"],
    }


def slurm_options(text: str) -> dict[str, str]:
    """What Slurm is asked for, as text, with defaults for what is left out."""
    from forebay.core.units import parse_bytes, parse_seconds
    from forebay.errors import nearest

    given = _plugins.assignments(text.replace(", ", ","), text, "queue=normal,cores=4,memory=8GB,walltime=1h,jobs=10")
    for key, value in given.items():
        if key not in _SLURM:
            raise InputError(f"--slurm {text!r}: unknown key {key!r}: {nearest(key, _SLURM)}")
        if key in ("cores", "jobs") and (not value.isdecimal() or int(value) < 1):
            raise InputError(f"--slurm {text!r}: {key}={value} is not a whole number from 1 up")
        try:
            _ = parse_bytes(value) if key == "memory" else parse_seconds(value) if key == "walltime" else None
        except InputError as error:
            raise InputError(f"--slurm {text!r}: {key}: {error}") from None
    return _SLURM | given


def _check_workers(client: Any) -> None:
    """Refuse workers that would give other results. Some may join later: each task looks again."""
    for worker, found in client.run(_code_there, on_error="return").items():
        if found != code_hash():
            what = "has no forebay that can be used" if isinstance(found, Exception) else "has another forebay"
            raise InputError(f"the worker {worker} {what}: results may differ; install this one there")


def _code_there() -> str:
    """On a worker: the hash of its own code."""
    return code_hash()


def _on(client: Any, parcel: Parcel, watch: Watch | None = None) -> Executor:
    """An executor on a cluster. A run is sent when a worker can soon begin with it."""

    def execute(tasks: Iterable[Run], done: Done) -> None:
        import distributed

        waiting, name = iter(tasks), f"forebay-{os.urandom(8).hex()}"
        client.register_plugin(_unpacking(parcel, name))
        sent: dict[Any, Run] = {}
        ended = distributed.as_completed(loop=client.loop)

        def send() -> None:
            threads = sum(client.nthreads().values())
            while len(sent) < _AHEAD * max(threads, _AT_FIRST):
                run = next(waiting, None)
                if run is None:
                    return
                there = moved(run, lambda path: f"{_PLACE}{os.path.abspath(path)}")
                future = client.submit(_carry_out, there, name, parcel.code, pure=False)
                sent[future] = run
                ended.add(future)

        if watch:
            watch.give_up = lambda: client.cancel(list(sent), force=True)
        try:
            send()
            while sent:
                future = next(ended)
                if watch:
                    watch.check()
                done(sent.pop(future), _outcome(future))
                send()
        finally:
            with suppress(Exception):  # the cluster may be gone
                client.cancel(list(sent), force=True)
                client.unregister_worker_plugin(name)

    return execute


def _outcome(future: Any) -> Any:
    import distributed

    if future.status == "cancelled":
        return Failure("the cluster has lost it", 1)
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, distributed.KilledWorker):
        return Failure("one worker after another was lost with it; is there enough memory?", 1)
    return Failure(f"its worker failed: {type(error).__name__}: {error}", 1)


def _unpacking(parcel: Parcel, label: str) -> Any:
    """What brings the files to every worker, those that join later too, and cleans up after the last run."""
    from distributed import WorkerPlugin

    class Files(WorkerPlugin):  # type: ignore[misc]
        name = label

        def setup(self, worker: Any) -> None:
            unpack(parcel, Path(worker.local_directory) / label)

        def teardown(self, worker: Any) -> None:
            import shutil

            children.dismiss(label)
            shutil.rmtree(Path(worker.local_directory) / label, ignore_errors=True)

    return Files()


def unpack(parcel: Parcel, folder: Path) -> None:
    """Write the files below a folder, in the same places relative to each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in parcel.content.items():
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _carry_out(run: Run, name: str, code: str) -> Any:
    """On a worker: a run in a process of its own, with the files that came along."""
    from distributed import get_worker

    if code_hash() != code:
        return Failure("its worker has another forebay, and results may differ; install this one there", 2)
    place = str(Path(get_worker().local_directory) / name)
    jobs = replace(run.jobs, **{key: getattr(run.jobs, key).replace(_PLACE, place) for key in ("source", "users")})
    specs = {key: getattr(run, key).replace(_PLACE, place) for key in ("platform", "policy", "failures")}
    metrics = tuple(one.replace(_PLACE, place) for one in run.metrics)
    return children.of(name).carry_out(replace(run, jobs=jobs, metrics=metrics, **specs))
