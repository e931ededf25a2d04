"""What is run: the motivating example, and S1 to S7, under every method."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run, from_file
from forebay.studies import _data
from forebay.studies._frame import Options, chosen_sections, policy_specs, seeds_of
from forebay.studies.bbsched2019._settings import BBSched, Ssd, Workloads, settings


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted; the log, None where jobs are made up."""

    settings: BBSched
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy
    seeds: int | None
    trace: Path | None
    ssd_specs: dict[str, str] = field(default_factory=dict)  # the same of section ssd

    def jobs(self, name: str, draw: int) -> Jobs:
        """The jobs of S1, S2, ...: a draw of requests."""
        models: tuple[str, ...] = (f"fan2019:{self.settings.workloads.requests.get(name, self.settings.ssd.buffers)}",)
        if name in self.settings.ssd.requests:
            models += (f"fan2019-ssd:{self.settings.ssd.requests[name]}",)
        if self.trace is None:
            return Jobs(self.settings.made_up.log, made=True, models=models, draw=draw)
        return from_file(self.trace, models=models, draw=draw)


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    names, ssd_names = chosen.policies, chosen.ssd.policies
    if options.policies is not None:
        names = ssd_names = list(dict.fromkeys([chosen.reference, *options.policies]))  # which means are divided by
    found = _data.find([(chosen.trace, (f"swf/{chosen.trace}", chosen.trace))], options.data)
    trace = None if found is None else found[chosen.trace]
    sections = chosen_sections(options, sections, chosen.sections)
    return Scope(chosen, sections, policy_specs(names), options.seeds, trace, policy_specs(ssd_names))


def runs(scope: Scope) -> list[Run]:
    """The runs of S1 to S7; the other sections need none that are worth keeping."""
    some: list[Run] = []
    if "workloads" in scope.sections:
        some += _runs(scope, "workloads", scope.settings.workloads, scope.specs)
    if "ssd" in scope.sections:
        some += _runs(scope, "ssd", scope.settings.ssd, scope.ssd_specs)
    return some


def _runs(scope: Scope, section: str, chosen: Workloads | Ssd, specs: dict[str, str]) -> Iterator[Run]:
    plain = [name.partition(":")[0] for name in scope.settings.policies]
    for workload in chosen.requests:
        for draw in range(chosen.draws):
            for name, given in specs.items():
                # A policy of another family has an order of its own.
                ranked = name.partition(":")[0] in plain
                (spec,) = policy_specs([name], order=chosen.order).values() if ranked else (given,)
                for seed in seeds_of(name, scope.seeds or chosen.seeds, scope.settings.random, plain):
                    yield Run(
                        name=f"{workload}, {name}, draw {draw}, seed {seed}",
                        jobs=scope.jobs(workload, draw),
                        platform=chosen.platform,
                        policy=spec,
                        job_model=scope.settings.job_model,
                        seed=seed,
                        tags={"section": section, "workload": workload, "policy": name, "draw": draw, "seed": seed},
                    )
