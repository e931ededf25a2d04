"""What is run: workloads under FCFSm and under io-intensity, and each with something changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from forebay import _plugins
from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run
from forebay.studies._frame import Options, chosen_sections, policy_specs
from forebay.studies.admire2023_io._settings import AdmireIo, settings

KEPT = ("turnaround_time", "waiting_time", "io_time")
"""Measures of every job of the first workload, for Fig. 4.13."""

PLAIN = "as published"
"""The choice that is none."""


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted."""

    settings: AdmireIo
    sections: tuple[str, ...]
    policies: tuple[str, ...]  # of the sections `published` and `bound`; the reference is the first

    @property
    def alphas(self) -> dict[float, str]:
        """Those of the policies that are io-intensity, by their alpha."""
        return {alpha: name for name in self.policies if (alpha := alpha_of(name)) is not None}


def alpha_of(policy: str) -> float | None:
    """The alpha of io-intensity; None of other policies, and where anything else is set."""
    name, given = (policy, {}) if ".py:" in policy else _plugins.parse_spec(policy)
    return float(given["alpha"]) if name == "io-intensity" and set(given) == {"alpha"} else None


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """What the options ask for."""
    chosen = settings(options.quick)
    if options.parts is not None:
        raise InputError("--parts: this study has no parts; choose sections with --section")
    if options.seeds is not None:
        chosen = _with_workloads(chosen, options.seeds)
    names = tuple(dict.fromkeys([chosen.reference, *(options.policies or chosen.policies)]))
    policy_specs(names)
    return Scope(chosen, chosen_sections(options, sections, chosen.sections), names)


def _with_workloads(chosen: AdmireIo, n: int) -> AdmireIo:
    """So many workloads in every section."""
    more = {"workloads": n}
    plans = chosen.beyond.plans.model_copy(update=more)
    parts = {
        "choices": chosen.choices.model_copy(update=more),
        "beyond": chosen.beyond.model_copy(update={**more, "plans": plans}),
    }
    return chosen.model_copy(update={**more, **parts, "series": min(chosen.series, n)})


def runs(scope: Scope) -> list[Run]:
    """All runs, section by section."""
    every = list[Run]()
    for section in scope.sections:
        if section in ("published", "bound"):
            every += _published(scope, section)
        elif section == "choices":
            every += _choices(scope)
        else:
            every += _beyond(scope)
    return every


@dataclass(frozen=True)
class Setting:
    """What of a run is not usual: the workload, options of it, and of the machine."""

    model: str = ""
    machine: str = ""
    workload: str = ""


def _run(scope: Scope, spec: str, draw: int, setting: Setting, keep: Sequence[str] = (), **tags: Any) -> Run:
    """One of them; a policy is called by its spec unless a tag says otherwise."""
    chosen = scope.settings
    labels = {"policy": spec, **tags}
    words = ", ".join(f"{key} {value}" for key, value in labels.items() if value is not None)
    return Run(
        name=f"{words}, workload {draw}",
        jobs=Jobs(_with(setting.workload or chosen.workload, setting.model), made=True, draw=draw),
        platform=_with(chosen.platform, setting.machine),
        policy=spec,
        job_model=chosen.job_model,
        keep=tuple(keep),
        tags={**labels, "workload": draw},
        effort=30.0 if spec.startswith("plan") else 1.0,
    )


def _with(spec: str, options: str) -> str:
    """A spec with more options."""
    return f"{spec}{',' if ':' in spec else ':'}{options}" if options else spec


def _published(scope: Scope, section: str) -> Iterator[Run]:
    setting = Setting(machine="bound=true" if section == "bound" else "")
    for draw in range(scope.settings.workloads):
        keep = KEPT if section == "published" and draw == 0 else ()
        for policy in scope.policies:
            yield _run(scope, policy, draw, setting, keep, section=section)


def _choices(scope: Scope) -> Iterator[Run]:
    """As published, with the printed equation, and with jobs that come one after the other."""
    mine = scope.settings.choices
    policy_specs(mine.policies)
    for draw in range(mine.workloads):
        for policy in mine.policies:
            yield _run(scope, policy, draw, Setting(), section="choices", choice=PLAIN)
            if alpha_of(policy) is not None:
                printed = f"workload={mine.intensity}"
                tags = {"section": "choices", "choice": printed, "policy": policy}
                yield _run(scope, f"{policy},{printed}", draw, Setting(), **tags)
            for load in mine.load:
                come = f"load={load:g}"
                yield _run(scope, policy, draw, Setting(come), section="choices", choice=come)


def _beyond(scope: Scope) -> Iterator[Run]:
    """Every policy as it is; some with a pool of bandwidth; and plans of fewer jobs."""
    chosen, mine = scope.settings, scope.settings.beyond
    policy_specs([*mine.policies, *mine.pooled, *mine.plans.policies])
    for jobs, policies, pooled, n in (
        (chosen.workload, mine.policies, mine.pooled, mine.workloads),
        (mine.plans.workload, mine.plans.policies, mine.plans.policies, mine.plans.workloads),
    ):
        for draw in range(n):
            for policy in dict.fromkeys([chosen.reference, *policies]):
                yield _run(scope, policy, draw, Setting(workload=jobs), section="beyond", jobs=jobs, share=None)
            for share in mine.share:
                reserved = Setting("bandwidth=true", f"share={share:g}", jobs)
                for policy in pooled:
                    yield _run(scope, policy, draw, reserved, section="beyond", jobs=jobs, share=float(share))
