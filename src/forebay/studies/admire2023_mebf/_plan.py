"""What is run: every application and size under EASY backfilling and MEBF; choices varied, and other policies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.admire2023_mebf._settings import Mebf, settings


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted."""

    settings: Mebf
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy, of section published


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        chosen = chosen.model_copy(update={"draws": options.seeds})
    # What claims are about is always there.
    names = list(dict.fromkeys([chosen.reference, chosen.proposed, *(options.policies or chosen.policies)]))
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), policy_specs(names))


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section."""
    makers = {"published": _published, "choices": _choices, "beyond": _beyond}
    return [run for section in scope.sections for run in makers[section](scope)]


def _run(scope: Scope, spec: str, draw: int, model: str = "", **tags: Any) -> Run:
    """One of them; its jobs follow from its tags, and `model` changes how they are made."""
    chosen = scope.settings
    made = ",".join(filter(None, [f"jobs={tags['jobs']},application={tags['application']}", model]))
    name = ", ".join(str(value) for value in tags.values() if value != "")
    return Run(
        name=f"{name}, draw {draw}",
        jobs=Jobs(f"{chosen.workload}:{made}", made=True, draw=draw),
        platform=chosen.platform,
        policy=spec,
        job_model=chosen.job_model,
        tags={**tags, "draw": draw},
        effort=float(tags["jobs"]),
    )


def _published(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings.published
    for application in chosen.applications:
        for jobs in chosen.jobs:
            tags: dict[str, Any] = {"section": "published", "application": application, "jobs": jobs}
            for draw in range(scope.settings.draws):
                for name, spec in scope.specs.items():
                    yield _run(scope, spec, draw, **tags, policy=name)


def _choices(scope: Scope) -> Iterator[Run]:
    """Every choice, and the reference once on the jobs of each."""
    chosen = scope.settings.choices
    models = dict.fromkeys(one.model for one in chosen.varied.values())
    each = [(scope.settings.reference, model, scope.settings.reference) for model in models]
    each += [(name, one.model, one.policy) for name, one in chosen.varied.items()]
    for jobs in chosen.jobs:
        tags: dict[str, Any] = {"section": "choices", "application": chosen.application, "jobs": jobs}
        for draw in range(scope.settings.draws):
            for name, model, spec in each:
                yield _run(scope, spec, draw, model, **tags, choice=name, made=model)


def _beyond(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings.beyond
    specs = policy_specs([scope.settings.proposed, *chosen.policies])
    for jobs in chosen.jobs:
        tags: dict[str, Any] = {"section": "beyond", "application": chosen.application, "jobs": jobs}
        for draw in range(scope.settings.draws):
            for name, spec in specs.items():
                yield _run(scope, spec, draw, **tags, policy=name)
