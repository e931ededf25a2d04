"""What is run: every variant on the same draws of volumes and arrivals, with lanes of its own or shared links."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run, from_file
from forebay.studies import _data
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.cerberus2016._settings import Cerberus, Variant, lane, settings

KEPT = ("turnaround_time",)
"""Measures of every job: pairs and figures need them."""


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted; the log, None where jobs are made up; the authors' results, if there are any."""

    settings: Cerberus
    sections: tuple[str, ...]
    trace: Path | None
    results: tuple[Path, ...]

    def jobs(self, version: str, variant: Variant, draw: int) -> Jobs:
        """The jobs of a draw, as a variant has them."""
        model = f"three-phase:version={version},{variant.model}"
        if self.trace is None:
            return Jobs(self.settings.made_up.log, made=True, models=(model,), draw=draw)
        return from_file(self.trace, models=(model,), draw=draw)


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        chosen = chosen.model_copy(
            update={
                "draws": options.seeds,
                "shared": chosen.shared.model_copy(update={"draws": options.seeds}),
            }
        )
    if options.policies is not None:
        chosen = _with_policies(chosen, options.policies)
    name = chosen.trace
    found = _data.find([(name, (f"swf/{name}", name))], options.data)
    trace = None if found is None else found[name]
    results = () if trace is None else _results(trace.parent)
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), trace, results)


def _results(folder: Path) -> tuple[Path, ...]:
    """The authors' per-job files, beside the log or in the folder cerberus beside its own."""
    return tuple(sorted([*folder.glob("cerberus/*.csv"), *folder.parent.glob("cerberus/*.csv")]))


def _with_policies(chosen: Cerberus, names: tuple[str, ...]) -> Cerberus:
    """Three-phase jobs with three demands under the policies named, and nothing else."""
    plain = chosen.variants["three-phase-iro"]
    specs = policy_specs(names)
    made = {name: plain.model_copy(update={"title": name, "policy": spec}) for name, spec in specs.items()}
    bare = {"variants": list(made), "pairs": [[name, next(iter(made))] for name in list(made)[1:]]}
    return chosen.model_copy(
        update={
            "variants": made,
            "march": chosen.march.model_copy(update=bare),
            "april": chosen.april.model_copy(update=bare),
            "shared": chosen.shared.model_copy(update={"variants": list(made)}),
        }
    )


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section."""
    every: list[Run] = []
    for section in scope.sections:
        if section in ("march", "april"):
            every += _version(scope, section)
        elif section == "shared":
            every += _shared(scope)
    return every


def _version(scope: Scope, version: str) -> Iterator[Run]:
    chosen = scope.settings.of(version)
    for name in chosen.variants:
        for draw in range(scope.settings.draws):
            run = _run(scope, version, name, draw)
            yield replace(run, name=f"{version}, {name}, draw {draw}", tags={"section": version, **run.tags})


def _run(scope: Scope, version: str, name: str, draw: int) -> Run:
    variant = scope.settings.variants[name]
    (spec,) = policy_specs([variant.policy], service=scope.settings.service(version)).values()
    return Run(
        name=name,
        jobs=scope.jobs(version, variant, draw),
        platform=variant.platform,
        policy=spec,
        job_model=scope.settings.job_model,
        keep=KEPT,
        tags={"policy": name, "draw": draw},
    )


def _shared(scope: Scope) -> Iterator[Run]:
    chosen = scope.settings.shared
    for name in chosen.variants:
        for lanes in (*chosen.lanes, None):
            for draw in range(chosen.draws):
                run = _run(scope, chosen.version, name, draw)
                platform, words = run.platform, "lanes of their own"
                if lanes is not None:
                    platform, words = f"{platform}:shared={lanes * lane(platform) / 1e9:g}GB/s", f"{lanes} lanes"
                tags = {"section": "shared", **run.tags, "lanes": lanes}
                yield replace(run, name=f"shared, {name}, {words}, draw {draw}", platform=platform, tags=tags)
