"""Many runs, each carried out once: what the store has is not repeated, what fails does not stop the rest."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from forebay._support.text import counted
from forebay.errors import ForebayError, InputError
from forebay.experiments.execution.executor import Executor, Failure, Outcome
from forebay.experiments.runs import Run
from forebay.experiments.store import Store
from forebay.results import Record

Progress = Callable[[Run, int, int, bool], None]
"""Called with a run just ended, how many have ended, how many there are, and whether it failed."""

PATIENCE = 0.5
"""Seconds between two looks at what others are carrying out."""
_SHOWN = 5


class RunsFailedError(ForebayError):
    """Some runs failed, for these reasons; the others are kept."""

    def __init__(self, text: str, failed: Sequence[tuple[Run, Failure]] = ()) -> None:
        super().__init__(text)
        self.failed = list(failed)


def missing(runs: Iterable[Run], store: Store) -> list[Run]:
    """Runs that are still to be carried out, each once, those that take long first."""
    distinct = {run.key: run for run in runs}
    return sorted((run for run in distinct.values() if run not in store), key=lambda run: -run.effort)


def warm_up(policies: Iterable[str]) -> None:
    """Compile and load all that these policies run on, here: processes started later find it in the cache.

    Those in users' files are left to the processes: what they compile is not kept, and one may end its process.
    """
    from forebay._run.simulate import simulate
    from forebay.policies import own_file
    from forebay.workload import read

    for policy in policies:
        if not own_file(policy):
            with suppress(InputError):  # it may name what this small machine lacks; by then its kernel is compiled
                simulate(read("table1"), policy=policy)


def carry_out(runs: Sequence[Run], store: Store, executor: Executor, progress: Progress | None = None) -> None:
    """Bring every run into the store; one error afterwards reports all that failed.

    Others may do the same meanwhile: what they have claimed is waited for, and taken over where they are gone.
    """
    left = {run.key: run for run in missing(runs, store)}
    total = len({run.key for run in runs})
    failed: list[tuple[Run, Failure]] = []

    def over(key: str, run: Run, badly: bool = False) -> None:
        del left[key]
        if progress is not None:
            progress(run, total - len(left), total, badly)

    def done(run: Run, outcome: Outcome) -> None:
        if not isinstance(outcome, Failure) and outcome.document.get("key", run.key) != run.key:
            outcome = Failure("a file of its own has changed since the work began; begin again", 2)
        if isinstance(outcome, Failure):
            failed.append((run, outcome))
        else:
            store.save(run, outcome)
        claims.release(run.key)
        over(run.key, run, isinstance(outcome, Failure))

    def free() -> Iterator[Run]:
        for key, run in list(left.items()):
            if claims.take(key):
                if run not in store:
                    yield run
                    continue
                claims.release(key)
            if run in store:
                over(key, run)

    with store.claims().holding() as claims:
        while left:
            tasks = free()
            first = next(tasks, None)
            if first is not None:
                executor(chain([first], tasks), done)
            elif left:
                time.sleep(PATIENCE)
    if failed:
        raise _explained(failed, total, store)


def records(runs: Iterable[Run], store: Store) -> list[tuple[Run, Record]]:
    """Each run with what the store has of it."""
    return [(run, store.load(run)) for run in runs]


def _explained(failed: list[tuple[Run, Failure]], total: int, store: Store) -> RunsFailedError:
    failed = sorted(failed, key=lambda one: one[0].name)
    lines = [f"  {run.name}: {failure.text}" for run, failure in failed[:_SHOWN]]
    if len(failed) > _SHOWN:
        lines.append(f"  and {len(failed) - _SHOWN} more")
    kept = f"the other {total - len(failed):,} are kept in {store.folder}; the same command tries these again"
    text = "\n".join([f"{len(failed):,} of {counted(total, 'run')} failed; {kept}", *lines])
    error = RunsFailedError(text, failed)
    error.exit_code = max(failure.exit_code for _, failure in failed)
    return error
