"""`forebay.sweep`, `compare` and `capacity`: many runs from Python, and one answer."""

import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path, file_names, writable_folder
from forebay.errors import InputError, MetricWarning, wrong_type

if TYPE_CHECKING:
    from forebay.experiments.capacity.answer import Capacity
    from forebay.experiments.comparison.answer import Comparison
    from forebay.experiments.runs import Run
    from forebay.experiments.swept.answer import Sweep


def sweep(
    spec: str | os.PathLike[str] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    slurm: str | None = None,
    fresh: bool = False,
    **keys: Any,
) -> "Sweep":
    """Run every combination of workloads, platforms, policies and seeds, each once.

    Parameters
    ----------
    spec
        The TOML file of a sweep. Without it, its keys are keyword arguments.
    output
        A folder that keeps finished runs, and the tables that `forebay sweep` writes: the same call goes on from
        there. Without it, nothing is kept.
    jobs
        How many runs at a time. Default: one a core.
    dask
        The address of a Dask scheduler, whose workers carry out the runs.
    slurm
        What Dask workers to ask Slurm for: "queue=normal,cores=4,memory=8GB,walltime=1h,jobs=10".
    fresh
        Whether to forget the runs that the folder holds.
    keys
        What the file would say: workloads, generators, platforms, policies, job_models, failures, models, seeds,
        window, reference, parameters, metrics. Workloads, platforms and policies may be objects, too, and policies
        classes, or a mapping whose keys are what tables call them. Runs of policies and platforms that no file has
        stay in this process.

    Returns
    -------
    Sweep
        Tables of runs and of combinations; it plots itself, and writes a page, LaTeX and Markdown.

    Raises
    ------
    RunsFailedError
        Where runs have failed, after all others have ended; these are kept in the folder.

    Examples
    --------
    >>> found = fb.sweep(workloads=["table1"], policies=["fcfs", "fcfs-bb"], jobs=1)
    >>> found.table["policy", "mean_wait"].rows()
    [('fcfs', 480.0), ('fcfs-bb', 142.5)]
    """
    from forebay.experiments import tidy
    from forebay.experiments.execution.cluster import executing
    from forebay.experiments.runs import bound
    from forebay.experiments.store import Store
    from forebay.experiments.sweep import carry_out as carry_out_runs
    from forebay.experiments.sweep import records, warm_up
    from forebay.experiments.swept import runs as swept
    from forebay.experiments.swept.answer import Sweep

    place = tempfile.TemporaryDirectory(prefix="forebay-") if output is None else nullcontext(os.fspath(output))
    with tempfile.TemporaryDirectory(prefix="forebay-") as inputs, place as folder:
        runs, asked = _runs(spec, keys, Path(inputs))
        store = Store(as_path(folder, "the output folder"), fresh)
        swept.keep(runs, store.folder)
        before = sum(run in store for run in runs)
        warm_up(dict.fromkeys(run.policy for run in runs if run not in store and not bound(run)))
        with executing(runs, jobs, dask, slurm) as executor:
            carry_out_runs(runs, store, executor)
        finished = records(runs, store)
        files = [] if output is None else tidy.write(finished, store.folder)
        for remark in tidy.remarks(finished):
            warnings.warn(remark, MetricWarning, stacklevel=2)
        return Sweep(finished, "" if spec is None else Path(spec).stem, before, files, asked)


def _runs(spec: str | os.PathLike[str] | None, keys: dict[str, Any], inputs: Path) -> "tuple[list[Run], str]":
    """The runs, and the text that asks for them: of the file, or a line a key."""
    from forebay._support.reading import read_text
    from forebay.experiments import grid
    from forebay.experiments.objects.taken import taken

    if spec is None:
        named, given = taken(keys, inputs)
        return grid.runs_of(named, given=given), _as_lines(named, inputs)
    if keys:
        raise InputError(f"{spec} says what to run; leave out {', '.join(keys)}, or the file")
    path = as_path(spec, "the sweep")
    return grid.read(path), read_text(path)


def _as_lines(keys: Mapping[str, Any], inputs: Path) -> str:
    """What was asked, as it would stand in a file; objects by their names."""

    def text(value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(text, value))}]"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{key} = {text(one)}' for key, one in value.items())}}}"
        name = str(value).removeprefix(f"{inputs}{os.sep}").removesuffix(".parquet.zip")
        return str(value) if isinstance(value, int | float) else f'"{name}"'

    return "\n".join(f"{key} = {text(value)}" for key, value in keys.items())


def compare(
    workload: Any = "default",
    policies: Any = None,
    platform: Any = None,
    *,
    reference: Any = None,
    replicas: int | None = None,
    seed: int = 0,
    job_model: str | None = None,
    failures: Any = None,
    slice: "tuple[Any, Any] | None" = None,
    warm: bool = False,
    window: "tuple[Any, Any] | None" = None,
    vary: "Mapping[str, Any] | None" = None,
    scale_load: float | None = None,
    bounds: bool = True,
    jobs: int | None = None,
    output: str | os.PathLike[str] | None = None,
    figures: bool = False,
    page: bool = False,
    progress: bool = False,
) -> "Comparison":
    """Rank policies on one workload and machine, with a verdict on each.

    Parameters
    ----------
    workload
        A Workload, or what `forebay.read` takes: a file, or the name of an embedded workload.
    policies
        Specs ("fcfs-bb:depth=3", "mine.py:Mine"), objects or classes of your own, one or several; or a mapping, whose
        keys are what tables call them. Without them, those that `forebay compare` compares by default. Objects run in
        this process, one after the other; specs on all cores.
    platform
        The machine, as `forebay.simulate` takes it.
    reference
        The policy that others are held against: one of these, by its name, or one more. Without it, the policy that
        the platform brings, else "fcfs-bb" where jobs ask for more than nodes, else "fcfs-easy", else the first.
    replicas
        Run each policy on so many shaken copies of the trace: surer verdicts. Without it, up to 10, as time allows.
    seed
        Feeds the randomness of policies, failures and replicas.
    job_model
        How jobs behave, as `forebay.simulate` takes it.
    failures
        How nodes fail, and what jobs do about it, as `forebay.simulate` takes it.
    slice
        Keep the jobs of a period alone (start, end), in seconds or dates.
    warm
        Whether such a period begins with what ran and waited then.
    window
        Jobs submitted in this period (start, end) count in all numbers.
    vary
        What-ifs: values by key, {"bf_window": [720, 1440], "classes.gpu.nodes": 16}, each a run of the reference on the
        site with that one change. Without `policies`, the reference runs with them alone.
    scale_load
        Let jobs arrive so many times as fast.
    bounds
        Whether to work out what no policy can have less of.
    jobs
        How many runs at a time. Default: one a core.
    output
        A folder for all files, as `forebay compare -o` writes them; what it has is used again. Without it, a temporary
        one, which goes with the answer.
    figures
        Whether to draw figures into the folder.
    page
        Whether to write report.html there.
    progress
        Whether to show a bar on a terminal.

    Returns
    -------
    Comparison
        Tables, verdicts, runs; it plots itself, and writes pages, LaTeX and Markdown.

    Raises
    ------
    ForebayError
        Where an input cannot be used. Policies that fail are in `.failed`, unless all do.

    Examples
    --------
    >>> found = fb.compare("table1", ["fcfs-easy", "fcfs-bb", "filler"], replicas=0)
    >>> found
    <Comparison of 3 policies on table1, best fcfs-bb, against fcfs-bb>
    >>> found.table["policy", "mean_wait"].rows()
    [('fcfs-bb', 142.5), ('filler', 142.5), ('fcfs-easy', 345.0)]
    >>> found.runs["fcfs-easy"].jobs["waiting_time"].max()
    660.0
    """
    from forebay._support.progress import Bars
    from forebay.experiments.comparison import compare as carry_out_comparison
    from forebay.experiments.comparison.answer import Comparison
    from forebay.experiments.comparison.selection import plan_of
    from forebay.experiments.inputs import setting_of
    from forebay.experiments.setting import scaled

    setting = setting_of(workload, platform, job_model, seed, failures, part=slice, warm=warm, window=window)
    plan = plan_of(scaled(setting, scale_load), policies, reference, replicas, bounds, vary)
    reporter = Bars() if progress else None
    with _folder(output) as (folder, keep):
        found = carry_out_comparison(plan, folder, processes=jobs, figures=figures, page=page, reporter=reporter)
        answer = Comparison(found)
        keep(answer)
        return answer


def capacity(
    workload: Any = "default",
    target: str = "",
    *,
    vary: "str | Sequence[str]" = "burst-buffer",
    range: "str | Sequence[str]" = (),
    policies: "str | Sequence[str]" = (),
    platform: str | os.PathLike[str] | None = None,
    models: "str | Sequence[str]" = (),
    job_model: str | None = None,
    seed: int = 0,
    seeds: int | None = None,
    replicas: int | None = None,
    shake: str = "60s",
    failures: str | None = None,
    window: "tuple[Any, Any] | None" = None,
    price: str | None = None,
    precision: str | float = "5%",
    jobs: int | None = None,
    output: str | os.PathLike[str] | None = None,
    figures: bool = False,
    page: bool = True,
    fresh: bool = False,
    progress: bool = False,
) -> "Capacity":
    """Find the least capacity that keeps a target: of a burst buffer, of nodes, or of anything else that can be varied.

    Parameters
    ----------
    workload
        A file, an embedded workload, a model that makes jobs ("lublin99:nodes=96"), or a Workload.
    target
        What is to be kept: "p95_wait <= 2h", or any number of a summary; of some jobs, "p95_wait[partition=gpu] <= 4h".
    vary
        What there may be more or less of: "burst-buffer", "nodes", "classes.NAME.nodes", "pfs", a tier,
        "TIER.bandwidth"; with prices, two.
    range
        From where to where, "480GB:2TB"; of two, "nodes=64:256". Without it, from a 16th of the machine's, or the
        largest need of one job, to 16 times as much.
    policies
        One or several specs: an answer for each. Without any, the site's own where the platform has one, else
        "fcfs-bb".
    platform
        The machine, as text or a TOML file.
    models
        Models that complete the jobs.
    job_model
        How jobs behave, as `forebay.simulate` takes it.
    seed
        The first seed.
    seeds
        How many workloads a model makes. Default: 10.
    replicas
        How many versions of one trace, the first as it is, others with arrivals shaken. Default: 10.
    shake
        How much later a job of such a version may arrive.
    failures
        How nodes fail, and what jobs do about it, as text.
    window
        Jobs submitted in this period (start, end) count.
    price
        What all that is varied costs: "burst-buffer=120EUR/TB,nodes=8000EUR".
    precision
        How far the answer may be above one that fails.
    jobs
        How many runs at a time. Default: one a core.
    output
        A folder that keeps runs and files: the same call goes on from there. Without it, a temporary one.
    figures
        Whether to draw figures into the folder.
    page
        Whether to write report.html there.
    fresh
        Whether to forget the runs that the folder holds.
    progress
        Whether to show a bar on a terminal.

    Returns
    -------
    Capacity
        Answers and tables; it plots itself, and writes a page.

    Examples
    --------
    >>> found = fb.capacity("table1", "mean_wait <= 3min", range="8TB:20TB", replicas=1, jobs=1)
    >>> print(found)
    burst buffer >= 10.06 TB for mean wait <= 3 min under fcfs-bb
    """
    from forebay._support.progress import Bars
    from forebay.experiments.capacity import find
    from forebay.experiments.capacity.answer import Capacity
    from forebay.experiments.capacity.question import Asked, asking
    from forebay.workload import Workload, write

    def several(given: "str | Sequence[str]") -> list[str]:
        return [given] if isinstance(given, str) else list(given)

    if not isinstance(workload, str | os.PathLike | Workload):
        raise wrong_type("the workload", workload, "a Workload, a file, or the name of an embedded one")
    for one in [policies] if isinstance(policies, str) else policies if isinstance(policies, Iterable) else [policies]:
        if not isinstance(one, str):
            raise wrong_type("the policy", one, 'a spec, such as "mine.py:Mine": other processes make it by that')
    with _folder(output) as (folder, keep):
        if isinstance(workload, Workload):
            path = writable_folder(folder) / f"{file_names([workload.name])[0]}.parquet.zip"
            write(workload, path)
            workload = path
        asked = Asked(
            workload=os.fspath(workload),
            platform=None if platform is None else os.fspath(platform),
            models=tuple(several(models)),
            job_model=job_model,
            seed=seed,
            failures=failures,
            window=window,
            seeds=seeds,
            replicas=replicas,
            shake=shake,
        )
        wanted = (target, several(vary), several(range), several(policies), str(precision), price)
        found = find(
            asking(asked, *wanted),
            folder,
            processes=jobs,
            figures=figures,
            page=page,
            fresh=fresh,
            reporter=Bars() if progress else None,
        )
        answer = Capacity(found, folder)
        keep(answer)
        return answer


@contextmanager
def _folder(output: str | os.PathLike[str] | None) -> Iterator[tuple[Path, Callable[[Any], None]]]:
    """The folder for an answer's files, and what keeps it as long as the answer: a temporary one goes then."""
    if output is not None:
        yield as_path(output, "the output folder"), lambda answer: None
        return
    folder = Path(tempfile.mkdtemp(prefix="forebay-"))
    kept = []

    def keep(answer: Any) -> None:
        kept.append(weakref.finalize(answer, shutil.rmtree, folder, ignore_errors=True))

    try:
        yield folder, keep
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
