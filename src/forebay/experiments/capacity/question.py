"""What a search for a capacity asks: the jobs in all their replicas, the machine, what is varied, over which range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.core.units import parse_seconds
from forebay.errors import InputError, brief

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from forebay.experiments.runs import Jobs, Run
    from forebay.experiments.targets import Price, Target
    from forebay.platforms import Platform
    from forebay.platforms.variation import Quantity
    from forebay.workload import Workload
    from forebay.workload.dates import Moment

REPLICAS = 10
SHAKE = "60s"
TIMES = 16
"""How much more, or less, than the machine has is tried where no range is given."""
STEPS = 5
"""Amounts of the first of two quantities."""


@dataclass(frozen=True)
class Asked:
    """What is said of jobs and machine, checked as far as it can be without reading them."""

    workload: str
    platform: str | None
    models: tuple[str, ...]
    job_model: str | None
    seed: int
    failures: str | None
    window: "tuple[Moment, Moment] | None"
    seeds: int | None
    replicas: int | None
    shake: str
    anonymise: bool = False


@dataclass(frozen=True)
class Span:
    """A quantity that is varied, and from where to where."""

    quantity: "Quantity"
    low: float
    high: float
    digits: int  # of amounts that are tried

    def snap(self, amount: float) -> float:
        """The nearest amount to try: one with few digits that can be had."""
        from forebay.platforms.variation import RATE

        steps = float(f"{amount / self.quantity.step:.{self.digits}g}")
        if self.quantity.unit != RATE:
            steps = max(round(steps), 1)
        return float(steps * self.quantity.step)

    def steps(self, count: int = STEPS) -> list[float]:
        """Amounts from one end to the other, each as many times the one before."""
        ratio = (self.high / self.low) ** (1 / (count - 1))
        between = [self.snap(self.low * ratio**place) for place in range(1, count - 1)]
        return sorted({self.low, *between, self.high})


@dataclass(frozen=True)
class Question:
    """All that decides which runs are made."""

    replicas: tuple["Run", ...]  # the run of each, on the machine as it is
    machine: "Platform"
    fixed: tuple[tuple[str, float], ...]  # sizes that the first replica's jobs decide
    spans: tuple[Span, ...]
    target: "Target"
    policies: Mapping[str, str]  # specs by what tables call them
    precision: float
    prices: Mapping[str, "Price"]
    wanting: tuple[int, ...]  # by replica: jobs that ask for more than the largest amount
    about: str  # the replicas in words
    workload: str
    n_jobs: int

    def cost(self, amounts: Mapping[str, float]) -> float | None:
        """What amounts cost together; None without prices."""
        return math.fsum(self.prices[name].each * amounts[name] for name in amounts) if self.prices else None

    @property
    def currency(self) -> str:
        """That of all prices."""
        return next((price.currency for price in self.prices.values()), "")


def parse_precision(text: str) -> float:
    """The share of "5%" or "0.05"."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not 1e-4 <= share <= 1 or rest.strip():
        raise InputError(f"--precision {brief(text)} is not a share from 0.01% to 100%; write one such as 5%")
    return share


def replicas_of(asked: Asked, policy: str) -> tuple[list["Run"], str]:
    """The run of each replica, and what replicas are in words."""
    from forebay.experiments.runs import Added, Run
    from forebay.metrics._own.registry import tokens

    made = _is_model(asked.workload)
    if made and asked.replicas is not None:
        raise InputError(f"--replicas is for one trace, and {asked.workload} differs with each seed; write --seeds")
    if not made and asked.seeds is not None:
        raise InputError(f"--seeds is for jobs that a model makes, and {asked.workload} is one trace; write --replicas")
    count = (asked.seeds if made else asked.replicas) or REPLICAS
    shake = parse_seconds(asked.shake)
    runs = []
    for replica in range(count):
        draw = asked.seed + replica
        added = None if made or replica == 0 or not shake else Added(0.0, (asked.seed, replica), shake)
        runs.append(
            Run(
                name=f"replica {replica}",
                jobs=_jobs(asked, made, draw),
                platform=asked.platform or "",
                policy=policy,
                job_model=asked.job_model or "",
                seed=draw,
                added=added,
                failures=asked.failures or "",
                metrics=tokens(),
                labels=asked.anonymise,
            )
        )
    if made:
        return runs, f"{counted(count, 'workload')} of {asked.workload}, seeds {asked.seed} to {asked.seed + count - 1}"
    if count == 1:
        return runs, "1, the jobs as they are"
    more = ", and models redrawn" if asked.models else ""
    return runs, f"{count}: the jobs as they are, then submitted up to {shake:g} s later each{more}"


def _is_model(source: str) -> bool:
    """Whether it is a spec of a model that makes jobs; a file wins."""
    import os

    from forebay import _plugins
    from forebay.workload import models

    name = _plugins.find("workload.models", source.partition(":")[0])
    return name is not None and not os.path.isfile(source) and models.describe(name)["kind"] == "generate"


def _jobs(asked: Asked, made: bool, draw: int) -> "Jobs":
    from pathlib import Path

    from forebay.experiments.runs import Jobs, from_file

    path = Path(asked.workload)
    more: dict[str, Any] = {"models": asked.models, "draw": draw if made or asked.models else 0}
    return from_file(path, **more) if path.is_file() and not made else Jobs(asked.workload, made=made, **more)


def span_of(quantity: "Quantity", workloads: list["Workload"], text: str | None, precision: float) -> Span:
    """The range of a quantity: as given, else from the largest need of one job, or a share of what there is."""
    digits = max(3, math.ceil(-math.log10(precision)) + 2)
    if text is not None:
        low, high = _range(text, quantity)
        return Span(quantity, low, high, digits)
    need, now = max(_needs(quantity, one).max(initial=0.0) for one in workloads), quantity.now
    assert now is not None
    low = max(float(need), now / TIMES, 1.0)
    rough = Span(quantity, low, TIMES * max(now, float(need)), digits)
    return Span(quantity, low if low == need else rough.snap(low), rough.snap(rough.high), digits)


def _range(text: str, quantity: "Quantity") -> tuple[float, float]:
    low, colon, high = text.partition(":")
    if not colon or not low.strip() or not high.strip():
        example = quantity.text(quantity.now or 10**12).replace(" ", "").replace(",", "")
        raise InputError(f"--range {brief(text)} is not LOW:HIGH; write one such as {example}:{example}")
    try:
        ends = quantity.parse(low), quantity.parse(high)
    except InputError as error:
        raise InputError(f"--range {brief(text)}: {error}") from None
    if not 0 < ends[0] < ends[1]:
        raise InputError(f"--range {brief(text)} is empty; its low end must be above 0 and below its high end")
    return ends


def _needs(quantity: "Quantity", workload: "Workload") -> "NDArray[np.float64]":
    """What each job needs of a quantity to run at all; 0 where that is not in the table of jobs."""
    import numpy as np

    jobs = workload.jobs
    if "." in quantity.name or quantity.name not in jobs.columns:
        return np.zeros(len(jobs))
    needs: NDArray[np.float64] = jobs[quantity.name].to_numpy().astype(np.float64)
    return needs / np.maximum(jobs["nodes"].to_numpy(), 1) if quantity.each else needs


def read(
    asked: Asked,
    vary: Sequence[str],
    ranges: Sequence[str],
    target: "Target",
    policies: Sequence[str],
    precision: float,
    prices: str | None,
) -> Question:
    """Read jobs and machine, and check all that can be checked before any run."""
    from dataclasses import replace

    from forebay import platforms
    from forebay._run.disguise import Disguise
    from forebay._run.simulate import machine_of
    from forebay.engine.build.feasibility import sized
    from forebay.experiments.runs import workload_of
    from forebay.experiments.targets import parse_prices
    from forebay.platforms.variation import quantity

    named = None if asked.platform is None else platforms.load(asked.platform)
    runs, about = replicas_of(asked, "")
    workloads = [workload_of(jobs) for jobs in dict.fromkeys(run.jobs for run in runs)]
    given = named or machine_of(workloads[0])
    if asked.anonymise:
        labels = [Disguise.of(one, given) for one in workloads]
        given = labels[0].platform(given)
        workloads = [by.workload(one) for by, one in zip(labels, workloads, strict=True)]
    machine = sized(workloads[0], given)
    called = _called(policies, given, asked.platform or workloads[0].platform)
    runs = [replace(run, policy=next(iter(called.values()))) for run in runs]
    fixed = [(tier.name, float(tier.on(machine.nodes) or 0)) for tier in machine.tiers if tier not in given.tiers]
    found = {name: quantity(machine, name) for name in vary}
    _check_distinct(vary, found)
    bought = {} if prices is None else parse_prices(prices, found)
    spans = [span_of(one, workloads, text, precision) for one, text in _with_ranges(found, ranges)]
    for span in spans:
        _check_asked_for(span, machine, workloads)
        _check_possible(span, machine)
    platform = asked.platform or str(workloads[0].platform)
    window, only = _in_seconds(asked.window, workloads), _only(target, machine, workloads)
    by_jobs = dict(zip(dict.fromkeys(run.jobs for run in runs), workloads, strict=True))
    return Question(
        replicas=tuple(replace(run, platform=platform, window=window, only=only) for run in runs),
        machine=machine,
        fixed=tuple(fixed),
        spans=tuple(spans),
        target=target,
        policies=called,
        precision=precision,
        prices=bought,
        wanting=tuple(_wanting(spans, by_jobs[run.jobs], only) for run in runs),
        about=about,
        workload=f"{workloads[0].name}, {counted(len(workloads[0]), 'job')}",
        n_jobs=len(workloads[0]),
    )


def _called(policies: Sequence[str], machine: "Platform", named: Any) -> dict[str, str]:
    """Specs of policies on the machine, by what tables call them."""
    from forebay._run.labels import SITE, called
    from forebay._run.site_policy import USUAL, site_policy

    own, found = site_policy(machine, named), dict[str, str]()
    for text in policies or [SITE if own else USUAL]:
        label, spec = called(text, own, machine.name)
        if label in found:
            raise InputError(f"two policies are called {label!r}; keep one, or give another label")
        found[label] = spec
    return found


def asking(
    asked: Asked,
    target: str,
    vary: Sequence[str],
    ranges: Sequence[str],
    policies: Sequence[str],
    precision: str,
    prices: str | None,
) -> Question:
    """The question as users write it; what is quick to check comes first."""
    from forebay._run import labels
    from forebay.experiments.targets import parse_target

    if not target:
        raise InputError('--target is missing; write what is to be kept, such as --target "p95_wait <= 2h"')
    wanted = parse_target(target)
    if len(vary) > 2:
        raise InputError(f"--vary names {len(vary)} quantities; two at most can be varied together")
    if len(vary) == 2 and prices is None:
        raise InputError("--vary names two quantities, which only prices can weigh; add --price")
    for one in policies:
        labels.check(one)
    return read(asked, vary, ranges, wanted, policies, parse_precision(precision), prices)


def _check_distinct(vary: Sequence[str], found: Mapping[str, "Quantity"]) -> None:
    names = [found[name].name for name in vary]
    for name in vary:
        if names.count(found[name].name) > 1:
            raise InputError(f"--vary {name!r} is given twice; keep one")


def _with_ranges(found: Mapping[str, "Quantity"], ranges: Sequence[str]) -> list[tuple["Quantity", str | None]]:
    """Each quantity with its range; of several, a range names its own: nodes=64:256."""
    texts: dict[str, str] = {}
    folded = {name.lower().replace("_", "-"): name for name in found}
    for text in ranges:
        name, equals, rest = text.partition("=")
        if not equals and len(found) > 1:
            raise InputError(f"--range {brief(text)} does not say of what; write {next(iter(found))}={text.strip()}")
        key = folded.get(name.strip().lower().replace("_", "-")) if equals else next(iter(found))
        if key is None:
            raise InputError(f"--range {brief(text)}: {name.strip()!r} is not varied; varied: {', '.join(found)}")
        if key in texts:
            raise InputError(f"--range {brief(text)} is a second range of {key}; keep one")
        texts[key] = rest if equals else text
    return [(one, texts.get(name)) for name, one in found.items()]


def _check_asked_for(span: Span, machine: "Platform", workloads: Sequence["Workload"]) -> None:
    """Refuse room that no job asks for: any amount of it gives the same runs."""
    name = span.quantity.name
    tier = next((tier for tier in machine.tiers if tier.name == name), None)
    if tier is None or tier.by_choice or any(_needs(span.quantity, one).any() for one in workloads):
        return
    raise InputError(
        f"{workloads[0].name}: no job asks for {span.quantity.title}, so that its size changes nothing; give jobs "
        "requests with --model burst-buffer, or vary something else"
    )


def _check_possible(span: Span, machine: "Platform") -> None:
    """Refuse a range with ends of which no machine can be made: a Dragonfly has the nodes that it has."""
    from forebay.platforms.variation import varied

    for end in (span.low, span.high):
        try:
            varied(machine, {span.quantity.name: end})
        except InputError as error:
            text = str(error).removeprefix("Platform: ")
            what = f"{span.quantity.text(end)} {span.quantity.of}"
            raise InputError(f"{machine.name} cannot have {what} ({text}); vary something else") from None


def _in_seconds(asked: "tuple[Moment, Moment] | None", workloads: Sequence["Workload"]) -> tuple[float, float] | None:
    """The window in seconds, which must have jobs in it."""
    from forebay.workload.dates import seconds_of

    if asked is None:
        return None
    window = seconds_of(workloads[0], asked[0]), seconds_of(workloads[0], asked[1])
    last = max(float(one.jobs["submit"][-1]) for one in workloads)
    if window[0] > min(float(one.jobs["submit"][-1]) for one in workloads):
        raise InputError(
            f"--window: no job is submitted from {window[0]:g} s on; {workloads[0].name} ends at {last:g} s"
        )
    return window


def _only(target: "Target", machine: "Platform", workloads: Sequence["Workload"]) -> tuple[str, ...]:
    """Conditions on the jobs that count, of which there must be some; jobs without a partition are in the default."""
    from forebay.experiments.runs import UNNAMED, those

    default = next((one.name for one in machine.partitions if one.default), None)
    only = tuple(one + UNNAMED if one == f"queue=={default}" else one for one in target.only)
    for workload in workloads:
        try:
            found = those(workload, only)
        except InputError as error:
            raise InputError(f"--target [{target.whose}]: {error}") from None
        if found.is_empty():
            raise InputError(f"--target [{target.whose}]: {workload.name} has no such job; name others")
    return only


def _wanting(spans: Sequence[Span], workload: "Workload", only: tuple[str, ...] = ()) -> int:
    """How many jobs ask for more than the largest amount of anything that is varied, of those that count."""
    import numpy as np

    from forebay.experiments.runs import those

    over = np.zeros(len(workload), bool)
    counting = workload.jobs["id"].is_in(those(workload, only).implode()).to_numpy()
    for span in spans:
        over |= _needs(span.quantity, workload) > span.high
    return int((over & counting).sum())
