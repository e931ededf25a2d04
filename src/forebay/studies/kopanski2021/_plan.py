"""What is run: parts as published with replicas, the whole log and its 16 parts with requests drawn by the model."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from forebay.errors import InputError
from forebay.experiments.runs import Added, Jobs, Run, from_file
from forebay.studies import _data
from forebay.studies._frame import Options, chosen_parts, chosen_sections, policy_specs, seeds_of
from forebay.studies.kopanski2021._settings import Kopanski, settings

KEPT = ("waiting_time", "bounded_slowdown_10min")
"""Measures of every job that Figs 7 to 10 show."""
RANDOM_EFFORT = 70.0
"""How many times as long a policy takes that tries many plans, roughly."""


@dataclass(frozen=True)
class Scope:
    """What of the study is wanted, and the files for it; None where workloads are made up."""

    settings: Kopanski
    sections: tuple[str, ...]
    specs: dict[str, str]  # full specs by policy
    choices: dict[str, dict[str, str]]  # of the section choices, by what reservations hold
    better: dict[str, str]  # and of the section better
    parts: tuple[int, ...]  # of the section parts
    sixteen: tuple[int, ...]
    seeds: int | None
    files: dict[str, Path] | None

    def seeds_for(self, policy: str, usual: int) -> range:
        """Seeds worth running of a policy."""
        return seeds_of(policy, self.seeds or usual, self.settings.random, self._plain())

    def is_random(self, policy: str) -> bool:
        """Whether seeds make a difference to it."""
        return len(seeds_of(policy, 2, self.settings.random, self._plain())) > 1

    def _plain(self) -> list[str]:
        """Policies that study.toml names, so that it knows which of them are random."""
        named = (*self.settings.policies, *self.settings.choices.policies, *self.settings.better.policies)
        return [name.partition(":")[0] for name in named]

    def part(self, job_model: str, part: int, users: bool = False) -> Jobs:
        """The jobs of a part that the authors published, or some like them. Their users are those of the log."""
        if self.files is not None:
            log = self.files[self.settings.log] if users else None
            return from_file(self.files[part_name(job_model, part)], users=log)
        models = [self.settings.made_up.estimates, *self.settings.requests]
        if job_model == "alloc-only":
            models.remove("io-phases")  # there the run time is all compute, as in the authors' files
        return Jobs(self.settings.made_up.part, made=True, models=tuple(models), draw=part)

    def log(self, draw: int, part: tuple[int, int] | None = None, first: int | None = None) -> Jobs:
        """The jobs of the log with requests drawn for them, or some like them."""
        requests = tuple(self.settings.requests)
        if self.files is not None:
            return from_file(self.files[self.settings.log], models=requests, draw=draw, part=part, first=first)
        models = (self.settings.made_up.estimates, *requests)
        return Jobs(self.settings.made_up.log, made=True, models=models, draw=draw, part=part, first=first)


def part_name(job_model: str, part: int) -> str:
    """The name of a part's file."""
    return f"{job_model}/part-{part}.json.gz"


def scope(options: Options, sections: tuple[str, ...]) -> Scope:
    """Everything checked that can be checked before anything runs."""
    chosen = settings(options.quick)
    sections = chosen_sections(options, sections, chosen.sections)
    specs = policy_specs(options.policies or chosen.policies, reservations=chosen.reservations)
    if "sixteen" in sections and chosen.reference not in specs:
        raise InputError(f"section sixteen divides by the means of {chosen.reference}; name it among --policies too")
    choices = {
        kind: policy_specs(options.policies or chosen.choices.policies, reservations=kind)
        for kind in chosen.choices.reservations
    }
    ours = dict.fromkeys([chosen.better.reference, *(options.policies or chosen.better.policies)])
    better = policy_specs(list(ours), reservations=chosen.reservations)
    # Parts may be named of either section; whatever names none of a section that is wanted is a slip.
    of_section = {
        "parts": chosen.parts.parts,
        "choices": chosen.parts.parts,
        "sixteen": list(range(chosen.sixteen.parts)),
        "better": chosen.parts.parts,
    }
    if options.parts is not None:
        named = sorted({part for name in sections for part in of_section.get(name, [])})
        chosen_parts(options, named)
    wanted = {
        name: tuple(part for part in parts if options.parts is None or part in options.parts)
        for name, parts in of_section.items()
    }
    files = _data.find(_files(chosen, sections, wanted["parts"]), options.data)
    return Scope(chosen, sections, specs, choices, better, wanted["parts"], wanted["sixteen"], options.seeds, files)


def _files(chosen: Kopanski, sections: tuple[str, ...], parts: tuple[int, ...]) -> list[tuple[str, list[str]]]:
    """The files that these sections need, and where each may lie in the folder of data."""
    found = []
    models = list(chosen.parts.job_models) if {"parts", "choices"} & set(sections) else []
    models += [chosen.better.job_model] if "better" in sections else []
    names = dict.fromkeys(part_name(model, part) for model in models for part in parts)
    found += [(name, [f"kopanski/{name}", name]) for name in names]
    if set(sections) - {"parts", "choices"}:
        found.append((chosen.log, [f"swf/{chosen.log}", chosen.log, f"../swf/{chosen.log}"]))
    return found


def runs(of: Scope) -> list[Run]:
    """Every run of the sections wanted."""
    makers: dict[str, Callable[[Scope], Iterator[Case]]] = {
        "parts": _parts,
        "choices": _choices,
        "full-log": _full_log,
        "sixteen": _sixteen,
        "better": _better,
    }
    return [case.run(of) for section in of.sections for case in makers[section](of)]


@dataclass(frozen=True)
class Case:
    """One run, and what tells it from the others of its section."""

    section: str
    job_model: str
    policy: str
    jobs: Jobs
    seed: int
    part: int | None = None
    draw: int | None = None
    replica: int = 0
    added: Added | None = None
    known: bool = False  # whether policies know the run times
    keep: tuple[str, ...] = ()
    size: float = 1.0  # the effort, a part being 1
    spec: str | None = None  # that of the section, unless given
    platform: str | None = None
    choice: Mapping[str, str] = field(default_factory=dict)

    def run(self, of: Scope) -> Run:
        """As the machinery of studies wants it."""
        name = f"{self.policy}, run times known" if self.known else self.policy
        tags = {"section": self.section, "job_model": self.job_model, "part": self.part, "policy": name}
        tags |= {"draw": self.draw, "replica": self.replica, "seed": self.seed, **self.choice}
        random = of.is_random(self.policy)
        words = [self.section, self.job_model, name, *self.choice.values()]
        words += [
            f"{word} {number}" for word, number in (("part", self.part), ("draw", self.draw)) if number is not None
        ]
        words += [f"replica {self.replica}" if self.replica else "", f"seed {self.seed}" if random else ""]
        return Run(
            name=" ".join(filter(None, words)),
            jobs=self.jobs,
            platform=self.platform or of.settings.platform,
            policy=self.spec or (of.better if self.section == "better" else of.specs)[self.policy],
            job_model=self.job_model,
            seed=self.seed,
            added=self.added,
            known=self.known,
            keep=self.keep,
            tags=tags,
            effort=self.size * (RANDOM_EFFORT if random else 1.0),
        )


def _parts(of: Scope, section: str = "parts", policies: Iterable[str] | None = None) -> Iterator[Case]:
    """Each part as it is under every seed, then replicas, of which each has a seed of its own."""
    chosen = of.settings.parts
    for job_model in chosen.job_models:
        for part in of.parts:
            jobs = of.part(job_model, part)
            for policy in of.specs if policies is None else policies:
                seeds = of.seeds_for(policy, chosen.seeds)
                replicas = chosen.replicas_of_random if of.is_random(policy) else chosen.replicas
                cases = [(0, seed) for seed in seeds] + [(1 + r, seeds[r % len(seeds)]) for r in range(replicas)]
                for replica, seed in cases:
                    # The stream has no policy and no model in it: all of them meet the same replicas.
                    added = Added(chosen.added, (replica - 1, part)) if replica else None
                    yield Case(section, job_model, policy, jobs, seed, part, replica=replica, added=added)


def _choices(of: Scope) -> Iterator[Case]:
    """The same runs with every kind of reservation and buffer. Those of the authors' kinds are the section parts'."""
    for reservations, specs in of.choices.items():
        for buffers, platform in of.settings.choices.buffers.items():
            for case in _parts(of, "choices", specs):
                choice = {"reservations": reservations, "buffers": buffers}
                yield replace(case, spec=specs[case.policy], platform=platform, choice=choice)


def _full_log(of: Scope) -> Iterator[Case]:
    chosen = of.settings.full_log
    for draw in range(chosen.draws):
        jobs = of.log(draw)
        for policy in of.specs:
            for seed in of.seeds_for(policy, chosen.seeds):
                kept = KEPT if draw == seed == 0 else ()
                yield Case("full-log", chosen.job_model, policy, jobs, seed, draw=draw, keep=kept, size=16)


def _sixteen(of: Scope) -> Iterator[Case]:
    chosen = of.settings.sixteen
    for draw in range(chosen.draws):
        for part in of.sixteen:
            jobs = of.log(draw, (part, chosen.parts))
            for policy in of.specs:
                for seed in of.seeds_for(policy, chosen.seeds):
                    yield Case("sixteen", chosen.job_model, policy, jobs, seed, part, draw)


def _better(of: Scope) -> Iterator[Case]:
    """Jobs as they are under every seed, then replicas shaken a little more than those of the parts."""
    chosen = of.settings.better
    cases = [(policy, False) for policy in of.better]
    cases += [(policy, True) for policy in chosen.known if policy in of.better]
    for part in of.parts:
        jobs = of.part(chosen.job_model, part, users=True)
        for policy, known in cases:
            plain = Case("better", chosen.job_model, policy, jobs, 0, part, known=known)
            for seed in of.seeds_for(policy, chosen.seeds):
                yield replace(plain, seed=seed)
            for replica in range(1, 1 + chosen.replicas):
                added = Added(of.settings.parts.added, (replica - 1, part), chosen.later)
                seed = replica - 1 if of.is_random(policy) else 0
                yield replace(plain, seed=seed, replica=replica, added=added)
