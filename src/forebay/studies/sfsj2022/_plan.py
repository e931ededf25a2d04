"""What is run: the toy example, and a load like Mira's under failures of many kinds, with and without stealing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run, from_file
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.sfsj2022._settings import FOLDER, Case, Sfsj, settings

DAY = 86400.0
NO_FAILURE = "no failure"
KEEP = ("turnaround_time", "requested_nodes")


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted."""

    settings: Sfsj
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy, of section published


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        beyond = chosen.beyond.model_copy(update={"draws": options.seeds})
        chosen = chosen.model_copy(update={"draws": options.seeds, "beyond": beyond})
    # What claims are about is always there.
    names = list(dict.fromkeys([chosen.reference, chosen.proposed, *(options.policies or chosen.policies)]))
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), policy_specs(names))


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section."""
    makers = {"toy": _toy, "published": _published, "loads": _loads, "variants": _variants, "beyond": _beyond}
    return [run for section in scope.sections for run in makers[section](scope)]


def variants(scope: Scope) -> dict[str, str]:
    """Policies by their three digits; the proposed one is that of 111, and 131 the other reading of it."""
    codes = [*("".join(digits) for digits in product("123", "12", "123")), "131"]
    return {code: scope.settings.proposed if code == "111" else f"steal:variant={code}" for code in codes}


def _toy(scope: Scope) -> Iterator[Run]:
    """Fig. 3.1 a, b and c."""
    chosen, outage = scope.settings, str(FOLDER / "toy-failure.csv")
    each = ((NO_FAILURE, chosen.reference, ""), *((name, name, outage) for name in (chosen.reference, chosen.proposed)))
    for case, policy, failures in each:
        yield Run(
            name=f"toy, {case}",
            jobs=from_file(FOLDER / "toy.swf"),
            platform="flat:nodes=8",
            policy=policy,
            job_model=chosen.job_model,
            failures=failures,
            keep=KEEP,
            tags={"section": "toy", "case": case, "policy": policy},
            effort=0.01,
        )


def _run(scope: Scope, spec: str, draw: int, mtbf: str, downtime: str, how: Case | None = None, **tags: Any) -> Run:
    """One of them; a draw has jobs and failures of its own, the same for every policy."""
    chosen, load = scope.settings, f",load={tags['load']:g}" if "load" in tags else ""
    given = (how.checkpoint if how else None) or chosen.checkpoint
    workload = (how.workload if how else None) or chosen.workload
    name = ", ".join(str(value) for value in tags.values())
    start, end = chosen.window
    return Run(
        name=f"{name}, a failure every {mtbf}, {downtime} down, draw {draw}",
        jobs=Jobs(f"{workload}{load}", made=True, models=tuple(how.models) if how else (), draw=draw),
        platform=chosen.platform,
        policy=spec,
        job_model=(how.job_model if how else None) or chosen.job_model,
        failures=f"mtbf={mtbf},downtime={downtime},{given},seed={draw}",
        window=(start * DAY, end * DAY),
        keep=KEEP,
        tags={**tags, "mtbf": mtbf, "downtime": downtime, "draw": draw},
    )


def _published(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings
    for draw in range(chosen.draws):
        for downtime, mtbf in product(chosen.published.downtime, chosen.published.mtbf):
            for name, spec in scope.specs.items():
                yield _run(scope, spec, draw, mtbf, downtime, section="published", policy=name)


def _loads(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings
    for draw in range(chosen.draws):
        for load in chosen.loads.loads:
            for name, spec in scope.specs.items():
                yield _run(scope, spec, draw, chosen.mtbf, chosen.downtime, section="loads", load=load, policy=name)


def _variants(scope: Scope) -> Iterator[Run]:
    """All of them, and the reference."""
    chosen = scope.settings
    for draw in range(chosen.draws):
        for name, spec in {chosen.reference: chosen.reference, **variants(scope)}.items():
            yield _run(scope, spec, draw, chosen.mtbf, chosen.downtime, section="variants", policy=name)


def _beyond(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings
    for draw in range(chosen.beyond.draws):
        for name, case in chosen.beyond.cases.items():
            for policy, spec in policy_specs(case.policies).items():
                tags = {"section": "beyond", "case": name, "policy": policy}
                yield _run(scope, spec, draw, chosen.mtbf, chosen.downtime, case, **tags)
