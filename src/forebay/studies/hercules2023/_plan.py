"""What is run: one set of jobs under several shares of I/O, with and without file systems of their own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forebay import _plugins
from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.hercules2023._settings import Case, Hercules, settings

USUAL = "as in section machine"
"""The case in which nothing is changed."""


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted."""

    settings: Hercules
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy, of section machine

    @property
    def cases(self) -> dict[str, Case]:
        """Those of the variations, after the one that has none."""
        return {USUAL: Case(), **self.settings.variations.cases}


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        more = {"seeds": options.seeds}
        parts = {name: getattr(chosen, name).model_copy(update=more) for name in ("machine", "variations")}
        chosen = chosen.model_copy(update=parts)
    names = list(dict.fromkeys(options.policies or chosen.policies))
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), policy_specs(names))


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section; figures of throughput need none."""
    makers = {"machine": _machine, "variations": _variations}
    return [run for section in scope.sections if section in makers for run in makers[section](scope)]


def _machine(scope: Scope) -> Iterator[Run]:
    mine = scope.settings.machine
    for seed in range(mine.seeds):
        for io in mine.io:
            for policy, spec in scope.specs.items():
                for system in mine.systems:
                    yield _run(scope, spec, system, io, seed, Case(), section="machine", policy=policy)


def _variations(scope: Scope) -> Iterator[Run]:
    mine = scope.settings.variations
    usual = next(iter(scope.specs))
    for seed in range(mine.seeds):
        for name, case in scope.cases.items():
            policy = case.policy or usual
            for io in mine.io:
                for system in case.systems or mine.systems:
                    tags = {"section": "variations", "case": name, "policy": policy}
                    yield _run(scope, scope.specs.get(policy, policy), system, io, seed, case, **tags)


def _run(scope: Scope, spec: str, system: str, io: float, seed: int, how: Case, **tags: Any) -> Run:
    """One of them; a seed has jobs of its own, the same for every system and, but for their bytes, every share."""
    mine = scope.settings.machine
    load = mine.load if how.load is None else how.load
    checkpoints = mine.checkpoints if how.checkpoints is None else how.checkpoints
    model = mine.systems[system]
    if system != mine.reference:
        model = _with(model, how.servers)
    bandwidths = f"node={_bytes(mine.port)},pfs={_bytes(mine.pfs)}"
    # The model's load is of the nodes that it makes jobs for, which may be fewer than the machine has.
    asked = load * mine.nodes / int(_plugins.parse_spec(mine.workload)[1]["nodes"])
    name = ", ".join(str(value) for value in tags.values())
    return Run(
        name=f"{name}, {system}, I/O {io:g}, seed {seed}",
        jobs=Jobs(
            _with(mine.workload, f"load={asked:g}"),
            made=True,
            models=(mine.walltimes, f"io-share:io={io:g},checkpoints={checkpoints:g},{bandwidths}"),
            draw=seed,
        ),
        platform=f"flat:nodes={mine.nodes},pfs={mine.pfs},port={mine.port}",
        policy=spec,
        job_model=model,
        tags={**tags, "system": system, "io": io, "seed": seed},
    )


def _with(spec: str, options: str) -> str:
    """A spec with more options."""
    return f"{spec}{',' if ':' in spec else ':'}{options}" if options else spec


def _bytes(rate: str) -> str:
    """A rate, 25GB/s, as the bytes of a second."""
    return rate.removesuffix("/s")
