"""Several policies on one workload and machine, ranked, with a verdict on each."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import file_names
from forebay._support.progress import Reporter
from forebay._support.text import counted
from forebay.experiments import outputs
from forebay.experiments.comparison import bounds, groups, replicas
from forebay.experiments.comparison.common_jobs import Common, not_run
from forebay.experiments.comparison.compared import Compared, distinct, failure
from forebay.experiments.comparison.entrants import Entrants
from forebay.experiments.comparison.figures import Drawing, under_way
from forebay.experiments.comparison.verdicts import Jury
from forebay.experiments.comparison.workspace import Part, Workspace, workspace
from forebay.experiments.execution import parallel
from forebay.experiments.execution.executor import cores
from forebay.experiments.setting import Setting
from forebay.report import renew

if TYPE_CHECKING:
    from forebay.experiments.execution.executor import Failure


@dataclass(frozen=True)
class Plan:
    """What is compared: policies by their names, and the one that others are held against."""

    setting: Setting
    policies: Mapping[str, Any]
    reference: str
    replicas: int | None = None  # of each policy; None leaves it to the time that runs take
    bounds: bool = True  # also report lower bounds
    objects: Mapping[str, Any] = field(default_factory=dict)  # policies by name that no spec names
    specs: Mapping[str, str] = field(default_factory=dict)  # of policies whose names are others
    machines: Mapping[str, Any] = field(default_factory=dict)  # by name, of what-ifs that change the platform

    @property
    def entrants(self) -> Entrants:
        """How runs come by the policies."""
        specs = {name: self.specs.get(name, name) for name in self.policies if name not in self.objects}
        return Entrants(specs, self.objects, self.machines)


def compare(
    plan: Plan,
    folder: Path,
    *,
    processes: int | None = None,
    figures: bool = True,
    page: bool = True,
    command: Sequence[str] = (),
    reporter: Reporter | None = None,
) -> Compared:
    """Run every policy, judge each against the reference, and write runs, tables and figures to a folder.

    Finished runs stay in the folder, however this ends, and are used again. At most `processes` runs are made at a
    time, one a core by default. `page` adds report.html; `command` is what gives the same comparison again.
    """
    reporter, count, setting = reporter or Reporter(), processes or cores(), plan.setting
    outputs.refuse_other(folder, "a comparison")
    entrants = plan.entrants
    parts = _parts(entrants, list(plan.policies))
    with outputs.output_folder(folder), workspace(folder, setting.key, parts, command) as made:
        failed = _run_all(plan, made, count, reporter)
        documents = _documents(made)
        if not documents:
            raise failure(failed, len(plan.policies))
        with _kept(made, len(plan.policies), reporter):
            planned = replicas.planned(documents, plan.reference, plan.replicas)
            specs = [document["policy"] for document in documents]
            copies = replicas.carry_out(setting, entrants, specs, planned, made, count, reporter)
        jury = Jury(setting, documents, made, copies, plan.reference)
        remarks = replicas.remark(documents, planned, plan.replicas)
        documents, numbers = _ranked(documents, {spec: jury.shown(spec) for spec in specs})
        drawing = _to_draw(documents, made) if figures else None
        with under_way(drawing, len(setting.workload), count, made.result) as drawn:
            compared = replace(_judged(plan, jury, made, documents, numbers), failed=failed, notes=remarks)
            compared.write(made.path)
            pictures = [folder / file.name for file in drawn()]
        pictures += [folder / file.name for file in renew(made.path, page)]
        made.publish()
        outputs.forget_figures(folder, pictures)
    return replace(compared, pictures=pictures)


def _judged(
    plan: Plan, jury: Jury, made: Workspace, documents: list[dict[str, Any]], numbers: dict[str, Any]
) -> Compared:
    """The verdicts on all runs, and what else is known of them."""
    common = Common(documents, made)
    shown = common.documents(documents, made)
    return Compared(
        documents=shown,
        verdicts=jury.verdicts(numbers),
        reference=plan.reference,
        basis=jury.basis,
        failed={},
        folder=made.folder,
        pictures=[],
        groups=groups.of(jury, made, list(numbers)),
        least=bounds.of(plan.setting, [one for one in documents if one["policy"] not in plan.machines], made)
        if plan.bounds
        else None,
        numbers=numbers,
        runs=jury.runs,
        not_run=not_run(common, plan.entrants, plan.setting, plan.policies, made),
        jury=jury,
    )


def _parts(entrants: Entrants, names: Sequence[str]) -> dict[str, Part]:
    """Each policy's folder and key; a policy in a user's file counts by the text of that file."""
    return {name: Part(folder, entrants.key(name)) for name, folder in zip(names, file_names(names), strict=True)}


def _run_all(plan: Plan, made: Workspace, count: int, reporter: Reporter) -> "dict[str, Failure]":
    """Every run that is not there yet; gives those that failed. What is finished stays, however this ends."""
    if lost := made.replaces():
        reporter.message(lost)
    found, total = made.finished(), counted(len(plan.policies), "policy", "policies")
    if found:
        reporter.message(f"{len(found)} of {total} there already")
    missing = [spec for spec in plan.policies if spec not in found]
    if not missing:
        return {}
    plan.setting.prepare({spec: plan.policies[spec] for spec in missing}, reporter.quiet, plan.machines)
    tasks = [parallel.Task(spec, made.place(spec)) for spec in missing]
    jobs = len(plan.setting.workload) * len(tasks)
    with _kept(made, len(plan.policies), reporter), reporter.progress(jobs) as watch:
        return parallel.carry_out(plan.setting, plan.entrants, tasks, count, watch)


@contextmanager
def _kept(made: Workspace, total: int, reporter: Reporter) -> Iterator[None]:
    """Report what is finished, and stays, where the work is stopped."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        kept = len(made.finished())
        if kept:
            of_all = f"{kept} of {counted(total, 'policy', 'policies')}"
            reporter.message(f"{of_all} kept in {made.path}: the same command goes on from there")
        raise


def _documents(made: Workspace) -> list[dict[str, Any]]:
    """All there is to say of every run."""
    import polars as pl

    from forebay.results import read_document

    documents = []
    for spec in made.finished():
        place = made.place(spec)
        times = pl.read_parquet(place / "jobs.parquet", columns=["starting_time", "finish_time"]).to_numpy()
        about = {
            "folder": str(made.target(spec)),
            "files": sorted(path.name for path in place.iterdir()),
            "schedule": hashlib.sha256(times.tobytes()).hexdigest(),
        }
        documents.append(read_document(place) | about)
    return documents


def _ranked(documents: list[dict[str, Any]], numbers: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Both with the shortest mean wait first; where no job counts, last."""

    def by_wait(spec: str) -> tuple[bool, float]:
        wait = numbers[spec]["mean_wait"]
        return wait is None, wait or 0.0

    order = sorted(numbers, key=by_wait)
    by_policy = {document["policy"]: document for document in documents}
    return [by_policy[spec] for spec in order], {spec: numbers[spec] for spec in order}


def _to_draw(documents: list[dict[str, Any]], made: Workspace) -> Drawing:
    runs = {spec: made.place(spec) for spec in distinct(documents)}
    return Drawing(runs, documents[0]["policy"], documents[0]["window"], made.path)
