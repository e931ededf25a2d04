"""The least capacity that keeps a target: of a burst buffer, of nodes, or of anything else that can be varied."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay._support.progress import Reporter
from forebay._support.text import counted
from forebay.experiments import sweep
from forebay.experiments.capacity import answers, trials
from forebay.experiments.capacity.question import Question
from forebay.experiments.execution import executor
from forebay.experiments.outputs import output_folder, refuse_other
from forebay.experiments.store import Store

KIND = "a search for a capacity"


@dataclass(frozen=True)
class Sized:
    """The answers to a question, how many runs they took, and the files that have them."""

    question: Question
    found: list[trials.Found]
    runs: Mapping[str, int]  # total, found in the folder, and made
    files: list[Path]

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        files = [str(file) for file in self.files]
        return {**answers.document(self.question, self.found), "runs": dict(self.runs), "files": files}


def find(
    question: Question,
    folder: Path,
    *,
    processes: int | None = None,
    figures: bool = True,
    page: bool = True,
    fresh: bool = False,
    origin: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Sized:
    """Search for the least capacity, and write runs, answers and figures to a folder.

    Finished runs stay in the folder, however this ends, and are used again unless it is to start `fresh`. `origin` says
    how to repeat it.
    """
    from forebay.report import renew

    refuse_other(folder, KIND)
    with output_folder(folder):
        found, counts = _search(question, Store(folder, fresh), processes, reporter or Reporter())
        files = answers.write(question, found, folder, origin or {})
        files += answers.draw(question, found, folder) if figures else []
        answers.forget_pictures(folder, files)
        files += renew(folder, page)
    return Sized(question, found, counts, files)


def _search(
    question: Question, store: Store, processes: int | None, reporter: Reporter
) -> tuple[list[trials.Found], dict[str, int]]:
    """All answers, and the number of runs; what is finished stays, however this ends."""
    from forebay._run import compilation
    from forebay.experiments.common import uses_of_runs
    from forebay.policies import load

    policies = [load(spec) for spec in question.policies.values()]
    compilation.prepare(policies, reporter.quiet, uses_of_runs(policies, question.replicas))
    sweep.warm_up(question.policies.values())
    with (
        reporter.progress(trials.expected(question), "runs") as watch,
        trials.crew(question, processes or executor.cores()) as crew,
    ):
        one = trials.Trials(question, store, crew, watch)
        try:
            found = one.answers()
        except (KeyboardInterrupt, SystemExit):
            kept = counted(one.made + one.found, "run")
            reporter.message(f"{kept} kept in {store.folder}: the same command goes on from there")
            raise
    return found, {"total": one.made + one.found, "found": one.found, "made": one.made}
