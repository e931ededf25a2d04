"""What is run: the motivating example, and S1 to S4, under every method."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run, from_file
from forebay.studies import _data
from forebay.studies._frame import Options, chosen_sections, policy_specs, seeds_of
from forebay.studies.bbsched2019 import SECTIONS
from forebay.studies.bbsched2019._settings import BBSched, settings


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted; the log, None where jobs are made up."""

    settings: BBSched
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy
    seeds: int | None
    trace: Path | None

    def jobs(self, name: str, draw: int) -> Jobs:
        """The jobs of S1, S2, ...: a draw of requests."""
        models = (f"fan2019:{self.settings.workloads.requests[name]}",)
        if self.trace is None:
            return Jobs(self.settings.made_up.log, made=True, models=models, draw=draw)
        return from_file(self.trace, models=models, draw=draw)


def scope(options: Options) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    names = chosen.policies
    if options.policies is not None:
        names = list(dict.fromkeys([chosen.reference, *options.policies]))  # which means are divided by
    found = _data.find([(chosen.trace, (f"swf/{chosen.trace}", chosen.trace))], options.data)
    trace = None if found is None else found[chosen.trace]
    sections = chosen_sections(options, SECTIONS, chosen.sections)
    return Scope(chosen, sections, policy_specs(names), options.seeds, trace)


def runs(scope: Scope) -> list[Run]:
    """The runs of S1 to S4; the other sections need none that are worth keeping."""
    return list(_workloads(scope)) if "workloads" in scope.sections else []


def _workloads(scope: Scope) -> Iterator[Run]:
    chosen, plain = scope.settings.workloads, [name.partition(":")[0] for name in scope.settings.policies]
    for workload in chosen.requests:
        for draw in range(chosen.draws):
            for name in scope.specs:
                # A policy of another family has an order of its own.
                ranked = name.partition(":")[0] in plain
                (spec,) = policy_specs([name], order=chosen.order).values() if ranked else (scope.specs[name],)
                for seed in seeds_of(name, scope.seeds or chosen.seeds, scope.settings.random, plain):
                    yield Run(
                        name=f"{workload}, {name}, draw {draw}, seed {seed}",
                        jobs=scope.jobs(workload, draw),
                        platform=chosen.platform,
                        policy=spec,
                        job_model=scope.settings.job_model,
                        seed=seed,
                        tags={"section": "workloads", "workload": workload, "policy": name, "draw": draw, "seed": seed},
                    )
