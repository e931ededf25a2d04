"""What every policy promises, and the check of one policy on many cases."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay._run.needs import wishes_on
from forebay.core.running import IO
from forebay.engine.build.program import Program
from forebay.engine.build.tables import build, default_model, make_program
from forebay.engine.driver.deciders import kernel_of
from forebay.engine.driver.refusals import check_limits
from forebay.engine.limits.build import site_of
from forebay.errors import InputError, PolicyError, StalledError
from forebay.platforms.platform import Platform
from forebay.policies import load as load_policy
from forebay.policies._limited import apart, manner_of
from forebay.testing.case import Case
from forebay.testing.drawing import KINDS, random_case
from forebay.testing.kinds import Kind, Sizes, pace
from forebay.testing.lines import Lines, lines_of, watch
from forebay.testing.machines import Files
from forebay.testing.report import Check, Report, Tally
from forebay.testing.scale import scales_of
from forebay.testing.shrink import shrink
from forebay.testing.source import file_of, numbers_of, own_code
from forebay.testing.uncompiled import check_without_compiler, has_own_kernel
from forebay.testing.watch import DelayedError, SpinsError, TooLongError, WroteError, watched_run
from forebay.workload.workload import Workload

RULES = {
    "legal": "every action is one the engine can carry out: nothing oversubscribed, started twice or too early",
    "finishes": "every job that fits the machine starts and ends, unless the policy rejects it",
    "repeats": "the same workload and seed give the same log, in a new run and in another object",
    "tidy": "nothing is written but actions and the policy's own memory",
    "rests": "it does not spin: it is not called again and again by nothing but itself",
}
"""What every policy promises, by name."""
UNCOMPILED = 16
"""Cases for a kernel with the compiler off, where each takes a second."""
THIRD = 3
"""One case in THIRD is run three times, to see whether all runs are equal."""
EACH = 8
"""Cases for each number of a policy and each thing that it may count, where there are few of them."""
HEAD = "head", "no decision delays the job that has waited longest, as walltimes tell"
"""What a policy may promise beyond them, as EASY does."""


def check_policy(spec: Any, seed: int = 0, n_cases: int = 100, head_never_delayed: bool = False) -> Report:
    """Try a policy on random cases; report each rule, and for each one broken the smallest case that shows it.

    Parameters
    ----------
    spec
        A policy as `forebay.simulate` takes it. A spec or a class also tests that two objects decide alike.
    seed
        Draws the cases.
    n_cases
        How many small ones; and as many again, at most, as large as the policy's own numbers.
    head_never_delayed
        Whether to check a sixth rule, which not every policy is to keep: no decision starts what delays the job that
        has waited longest. Decisions that resize, interrupt or turn away jobs are not judged by it.

    Returns
    -------
    Report

    Examples
    --------
    >>> report = fb.testing.check_policy("fcfs", n_cases=2)
    >>> report.passed, [check.name for check in report.checks]
    (True, ['legal', 'finishes', 'repeats', 'tidy', 'rests'])
    """
    policy, _ = apart(load_policy(spec))
    codes, ran = own_code(policy), set[int]()
    if isinstance(spec, str) and has_own_kernel(policy):
        # Compiled, an index out of bounds ends the process without a word.
        report = check_without_compiler(spec, seed, min(n_cases, UNCOMPILED), head_never_delayed)
        if not report.passed:
            return report
        if report.tried.lines is not None:
            ran = {*report.tried.lines.all} - {*report.tried.lines.never}
    broken, tally = dict[str, tuple[Case, str]](), Tally()
    with watch(codes) as seen:
        for number, case in enumerate(_cases(policy, seed, n_cases)):
            breach = _breach(spec, case, head_never_delayed, tally, repeats=number % THIRD == 0)
            if breach is not None:
                broken.setdefault(breach[0], (case, breach[1]))
                if breach[0] == "rests":  # each further case would take as long as it spins
                    break
    rules = [*RULES.items(), HEAD] if head_never_delayed else [*RULES.items()]
    checks = [Check(name, name not in broken, text) for name, text in rules]
    parts = [_explain(spec, rule, *found, head_never_delayed) for rule, found in broken.items()]
    file, lines = file_of(policy), lines_of(codes)
    never = lines - seen.ran - ran
    known = None if file is None else Lines(file, tuple(sorted(lines)), tuple(sorted(never)))
    return Report(str(spec), checks, "\n\n".join(parts), tally.sum_up(known))


def _cases(policy: Any, seed: int, n_cases: int) -> Iterator[Case]:
    """Small cases of every kind, then some around the policy's own numbers."""
    kinds = [kind for kind in map(_asked_by(policy), KINDS) if kind.suits(policy)]
    for number in range(n_cases):
        yield random_case(np.random.default_rng([seed, number]), kinds)
    scales = scales_of(numbers_of(policy), n_cases)
    for number in range(min(n_cases, EACH * len(scales))):
        scale = scales[number % len(scales)]
        yield random_case(np.random.default_rng([seed, number, 1]), kinds, scale)


def _asked_by(policy: Any) -> Callable[[Kind], Kind]:
    """More of what a policy declares that it looks at: links by their names, what moves over them, and sizes."""
    links = IO in getattr(policy, "needs", ()) or getattr(policy, "known", None) is not None

    def asked(kind: Kind) -> Kind:
        if isinstance(kind, Files) and links:
            return Files(1.0)
        if isinstance(kind, Sizes) and getattr(policy, "resizes", False):
            return Sizes((0.8, 0.8), 8)
        return kind

    return asked


def _explain(spec: Any, rule: str, case: Case, message: str, keeps_head: bool) -> str:
    """A breach in words, with the smallest case that shows it."""
    lines = [message]

    def still(smaller: Case) -> bool:
        breach = _breach(spec, smaller, keeps_head, repeats=rule == "repeats")
        if breach is None or breach[0] != rule:
            return False
        lines[0] = breach[1]  # at once: a policy that does not repeat itself may not break it again
        return True

    small = shrink(case, still)
    return f"{lines[0]}\n\nThe smallest workload that shows it:\n{small.text()}"


def _breach(
    spec: Any, case: Case, keeps_head: bool, tally: Tally | None = None, repeats: bool = True
) -> tuple[str, str] | None:
    """The rule that the policy breaks on a case and how, or None; unless it `repeats`, from one run."""
    policy, limits = apart(load_policy(spec))
    platform, workload = case.platform(), case.workload()
    ground = _Ground(workload, platform, default_model(workload, platform))
    site = site_of(workload, platform, ground.program, limits)
    try:
        wishes = wishes_on(policy, str(spec), ground, manner_of(load_policy(spec)))
    except InputError:  # it goes by I/O, and no job does any
        return None
    state, truth, _ = build(workload, platform, ground.program, site, case.failures(), wishes)
    if _is_refused(policy, state, truth):
        return None
    tables, long = (state, truth, platform.resources, wishes.labels), pace(case) > 1
    tally = Tally() if tally is None else tally
    tally.cases += 1
    try:
        first = watched_run(policy, *tables, keeps_head, long, tally)
        again = watched_run(policy, *tables, long=long) if repeats else first
        other = watched_run(apart(load_policy(spec))[0], *tables, long=long) if repeats else first
    except TooLongError:
        return None
    except WroteError as error:
        return "tidy", str(error)
    except SpinsError as error:
        return "rests", str(error)
    except DelayedError as error:
        return HEAD[0], str(error)
    except PolicyError as error:
        return ("finishes" if isinstance(error, StalledError) else "legal"), str(error)
    if first.unfinished:
        return "finishes", f"job {first.unfinished[0]} never ended"
    if first.hash != again.hash:
        return "repeats", "a second run of the same object gave another log: forget the first run in setup(self, view)"
    if first.hash != other.hash:
        return "repeats", "another object gave another log: use view.rng for randomness, and no global state"
    return None


@dataclass(frozen=True)
class _Ground:
    """What a case is run on."""

    workload: Workload
    platform: Platform
    job_model: str

    @property
    def program(self) -> Program:
        """What jobs do; `make_program` keeps the last one."""
        return make_program(self.workload, self.platform, self.job_model)


def _is_refused(policy: Any, state: Any, truth: Any) -> bool:
    """Whether a policy says itself that it does not run there."""
    try:
        check_limits(truth)
        if kernel_of(policy) is not None and hasattr(policy, "check"):
            policy.check(state)
    except InputError:
        return True
    return False
