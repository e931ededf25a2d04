"""What is run: workloads under SAS and under tiers drawn at random, by room, staging bandwidth and users' mistakes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.sas2019._settings import Sas, settings


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted."""

    settings: Sas
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy, of those that stand beside random tiers


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        chosen = chosen.model_copy(update={"repetitions": options.seeds})
    names = list(dict.fromkeys(["sas", *(options.policies or chosen.policies)]))  # what claims are about
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), policy_specs(names))


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section."""
    chosen, every = scope.settings, list[Run]()
    for section in scope.sections:
        if section == "random":
            every += _against(scope, section, chosen.against.k)
        elif section == "staging":
            every += _against(scope, section, chosen.staging.k)
        elif section == "mistakes":
            every += _mistakes(scope)
        elif section == "beyond":
            every += _beyond(scope)
        else:
            every += _sensitivity(scope)
    return every


def _run(scope: Scope, spec: str, workload: int, model: str = "", seed: int = 0, **tags: Any) -> Run:
    """One of them; the machine follows from its tags."""
    chosen = scope.settings
    jobs = Jobs(f"{chosen.workload}:{model}" if model else chosen.workload, made=True, draw=workload)
    options = {"fast": tags["capacity"], "k": tags["k"]}
    if "rate" in tags:
        options["slow"] = f"{tags['rate']:g}GB/s"
    machine = ",".join(f"{key}={value}" for key, value in options.items())
    name = ", ".join(f"{key} {value}" for key, value in tags.items())
    return Run(
        name=f"{name}, workload {workload}, seed {seed}",
        jobs=jobs,
        platform=f"{chosen.platform}:{machine}",
        policy=spec,
        job_model=chosen.job_model,
        seed=seed,
        tags={**tags, "workload": workload, "seed": seed},
    )


def _shares(steps: int) -> list[float]:
    return [round(k / steps, 6) for k in range(steps + 1)]


def _drawn(scope: Scope, workload: int, steps: int, repetitions: int, model: str = "", **tags: Any) -> Iterator[Run]:
    """Tiers drawn with every probability; where nothing is left to chance, once."""
    for p in _shares(steps):
        for seed in range(repetitions if 0 < p < 1 else 1):
            # A seed of its own for every workload: the same draws would favour the same places in the queue.
            own = workload * scope.settings.repetitions + seed
            yield _run(scope, f"{scope.settings.drawn}:p={p:g}", workload, model, own, **tags, policy="random", p=p)


def _against(scope: Scope, section: str, ratios: list[int]) -> Iterator[Run]:
    chosen = scope.settings
    for workload in range(chosen.workloads):
        for k in ratios:
            for capacity in chosen.capacities:
                tags: dict[str, Any] = {"section": section, "k": k, "capacity": capacity}
                yield from _drawn(scope, workload, chosen.steps, chosen.repetitions, **tags)
                for name, spec in scope.specs.items():
                    yield _run(scope, spec, workload, **tags, policy=name)


def _mistakes(scope: Scope) -> Iterator[Run]:
    """SAS when users are mistaken; and what random tiers do, which mistakes do not change."""
    chosen, mine = scope.settings, scope.settings.mistakes
    tags: dict[str, Any] = {"section": "mistakes", "k": mine.k, "capacity": mine.capacity}
    for workload in range(chosen.workloads):
        yield from _drawn(scope, workload, chosen.steps, chosen.repetitions, **tags)
        for name, spec in scope.specs.items():
            for theta in _shares(mine.steps):
                for noise in range(chosen.repetitions if theta > 0 else 1):
                    model = f"theta={theta:g},noise={noise}" if theta > 0 else ""
                    yield _run(scope, spec, workload, model, **tags, policy=name, theta=theta, noise=noise)


def _beyond(scope: Scope) -> Iterator[Run]:
    chosen, mine = scope.settings, scope.settings.beyond
    specs = policy_specs(mine.policies)
    for workload in range(chosen.workloads):
        for k in mine.k:
            for capacity in chosen.capacities:
                for name, spec in specs.items():
                    yield _run(scope, spec, workload, section="beyond", k=k, capacity=capacity, policy=name)


def _sensitivity(scope: Scope) -> Iterator[Run]:
    """One at a time, the others as they are: SAS, and random tiers once each."""
    mine = scope.settings.sensitivity
    for knob in ("rate", "data", "mean"):
        for value in getattr(mine, knob):
            tags: dict[str, Any] = {"section": "sensitivity", "k": mine.k, "knob": knob, "value": float(value)}
            model = f"{knob}={value:g}" if knob != "rate" else f"rate={value:g}GB"
            if knob == "rate":
                tags["rate"] = value
            for capacity in scope.settings.capacities:
                for workload in range(scope.settings.workloads):
                    yield from _drawn(scope, workload, mine.steps, 1, model, **tags, capacity=capacity)
                    yield _run(scope, "sas", workload, model, **tags, capacity=capacity, policy="sas")
