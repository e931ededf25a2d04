"""The runs of a search for a capacity: those of one capacity at a time, each in the store, and what comes of them."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forebay.experiments import sweep
from forebay.experiments.capacity.question import Question, Span
from forebay.experiments.capacity.search import FIRST, Answer, least
from forebay.experiments.execution import executor
from forebay.experiments.execution.parallel import HERE, SHORT
from forebay.experiments.runs import REMARKS
from forebay.metrics._own.own import stays_here

if TYPE_CHECKING:
    from forebay._support.progress import Watch
    from forebay.experiments.runs import Run
    from forebay.experiments.store import Store

_MORE = 9  # points that a search mostly tries after the first ones


@dataclass(frozen=True)
class Found:
    """The answer for one policy, and for one amount of the first quantity where there are two."""

    policy: str
    beside: Mapping[str, float]
    answer: Answer
    rejected: Mapping[float, float]  # by capacity: jobs rejected for want of what is varied, mean over replicas
    remarks: Sequence[str] = ()  # on metrics of the user's own


def expected(question: Question) -> int:
    """A guess at how many runs there will be."""
    searches = len(question.policies) * (len(question.spans[0].steps()) if len(question.spans) > 1 else 1)
    return searches * (FIRST + _MORE) * len(question.replicas)


@contextmanager
def crew(question: Question, count: int) -> Iterator[executor.Executor]:
    """Carries out runs: short ones here for some seconds, all others in processes, which stay for the next round."""
    until = time.process_time() + HERE if question.n_jobs <= SHORT else 0.0
    bound = any(stays_here(run.metrics) for run in question.replicas)
    with executor.kept(count) as processes:

        def execute(runs: Iterable["Run"], done: executor.Done) -> None:
            left = list(runs)
            while left and (count == 1 or bound or time.process_time() < until):
                executor.here([left.pop(0)], done)
            if left:
                processes(left, done)

        yield execute


class Trials:
    """Carries out what a search asks for, and counts."""

    def __init__(self, question: Question, store: "Store", carry_out: executor.Executor, watch: "Watch") -> None:
        self._question, self._store, self._execute, self._watch = question, store, carry_out, watch
        self.made, self.found = 0, 0
        self._summaries: dict[Run, Mapping[str, Any]] = {}
        self._remarks: dict[str, None] = {}
        self._ceiling = {span.quantity.name: span.high for span in question.spans}

    def answers(self) -> list[Found]:
        """An answer for each policy, and each amount of the first quantity where there are two."""
        *outer, inner = self._question.spans
        besides = [{span.quantity.name: amount} for span in outer for amount in span.steps()] or [{}]
        return [self._answer(policy, inner, beside) for policy in self._question.policies for beside in besides]

    def _answer(self, policy: str, span: Span, beside: Mapping[str, float]) -> Found:
        target, rejected = self._question.target, dict[float, float]()

        def evaluate(capacities: Sequence[float]) -> list[list[float]]:
            runs = {one: self._runs(policy, {**beside, span.quantity.name: one}) for one in capacities}
            largest = self._runs(policy, self._ceiling)
            self._carry_out([run for some in (largest, *runs.values()) for run in some])
            anyway = [
                max(0, self._rejected(run) - wanting)
                for run, wanting in zip(largest, self._question.wanting, strict=True)
            ]
            losses = []
            for one, some in runs.items():
                more = [self._rejected(run) - least for run, least in zip(some, anyway, strict=True)]
                rejected[one] = math.fsum(more) / len(more)
                # Jobs that a machine rejects are in no mean: small machines would look best.
                losses.append([math.inf if n > 0 else self._loss(run) for run, n in zip(some, more, strict=True)])
            return losses

        precision, limit = self._question.precision, target.sign * target.limit
        answer = least(evaluate, limit, span.low, span.high, precision, span.snap)
        return Found(policy, dict(beside), answer, rejected, list(self._remarks))

    def _runs(self, policy: str, amounts: Mapping[str, float]) -> list["Run"]:
        texts = [
            f"{span.quantity.text(amounts[span.quantity.name])} {span.quantity.of}" for span in self._question.spans
        ]
        changed = tuple({**dict(self._question.fixed), **amounts}.items())
        return [
            replace(
                run,
                name=f"{policy}, {', '.join(texts)}, {run.name}",
                policy=self._question.policies[policy],
                amounts=changed,
            )
            for run in self._question.replicas
        ]

    def _carry_out(self, runs: Sequence["Run"]) -> None:
        new = [run for run in runs if run not in self._summaries]
        left = sweep.missing(new, self._store)
        self.found += len(set(new)) - len(left)

        def count(run: "Run", ended: int, total: int, failed: bool) -> None:
            self.made += 1
            self._watch.at(run.name, self.made + self.found)

        sweep.carry_out(new, self._store, self._execute, count)
        for run in new:
            record = self._store.load(run)
            self._summaries[run] = record.summary
            self._remarks |= dict.fromkeys(record.document.get(REMARKS, ()))

    def _loss(self, run: "Run") -> float:
        return self._question.target.loss(self._summaries[run])

    def _rejected(self, run: "Run") -> int:
        return int(self._summaries[run]["n_rejected"])
