"""A sweep as its users write it, and the runs that it stands for.

Every combination of source of jobs, platform, job model, failures and policy is run under every seed. `{name}` in a
spec stands for each value of that parameter: the spec becomes as many specs. In one run a parameter has one value,
wherever it stands; a spec without it is not repeated for it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay._run import labels
from forebay._run.labels import SITE
from forebay._support.reading import check_regular, read_toml
from forebay._support.text import counted
from forebay.core.units import parse_period
from forebay.errors import InputError, brief, nearest
from forebay.experiments import files, generators
from forebay.experiments.objects.marks import Objects
from forebay.experiments.references import reference_of
from forebay.experiments.runs import Jobs, Run, from_file, made_by

Value = bool | int | float | str
COLUMNS = ("workload", "platform", "job_model", "failures", "policy", "seed")
"""What tells runs of a sweep apart, beside parameters."""
WRITTEN = "as written"
"""The tag for all of these but the seed as the sweep has them, parameters not filled in; no parameter has a space."""
MOST = 1_000_000
_INT64 = 2**63
_TAKEN = {*COLUMNS, "seeds", "reference", "metric", "value", "reference_value", "change", "low", "high"}
_TAKEN |= {"verdict", "n", "over"}
"""Other columns of tables than parameters and metrics."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Generator(_Strict):
    """Jobs that are generated for every seed."""

    spec: str  # of a model that generates, or of a function in a user's file
    models: list[str] | None = None  # instead of those of the sweep


class Grid(_Strict):
    """The keys of a sweep."""

    workloads: list[str] = []
    generators: list[Generator | str] = []
    policies: list[str] = Field(min_length=1)
    platforms: list[str] = Field(default=[""], min_length=1)
    job_models: list[str] = Field(default=[""], min_length=1)
    failures: list[str] = Field(default=[""], min_length=1)
    models: list[str] = []
    seeds: int | list[int] = 1
    window: str | None = None
    reference: str | None = None
    parameters: dict[str, list[Value]] = {}
    metrics: list[str] = []


def read(path: Path, reference: str | None = None) -> list[Run]:
    """The runs of a file. Paths in it are relative to its folder. A reference given here counts before the file's."""
    try:
        table = read_toml(path, 'policies = ["fcfs-bb", "sjf-bb"]')
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); name the TOML file of a sweep") from None
    more = {} if reference is None else {"reference": reference.strip()}
    return runs_of(table | more, str(path), path.parent)


def runs_of(
    table: Mapping[str, Any], where: str = "sweep", folder: Path = Path(), given: Objects | None = None
) -> list[Run]:
    """The runs of a sweep's keys, in the order of the grid; what is wrong with any is reported before one begins.

    `given` are the objects that some of its names stand for.
    """
    return _Reader(_checked(table, where), where, folder, given or Objects()).runs()


def _checked(table: Mapping[str, Any], where: str) -> Grid:
    try:
        return Grid.model_validate(dict(table))
    except ValidationError as error:
        lines = list(dict.fromkeys(_told(detail) for detail in error.errors(include_url=False)))
    if len(lines) == 1:
        raise InputError(f"{where}: {lines[0]}")
    raise InputError(f"{where}: {counted(len(lines), 'problem')}\n  " + "\n  ".join(lines))


def _told(detail: Any) -> str:
    """One complaint of pydantic in our words."""
    place = [str(part) for part in detail["loc"] if part not in ("Generator", "str", "int", "list[int]")]
    name, known = ".".join(place), Grid.model_fields if len(place) == 1 else Generator.model_fields
    if detail["type"] == "extra_forbidden":
        return f"{name}: unknown key; {nearest(place[-1], known)}"
    if detail["type"] == "missing":
        return f'{name}: missing; write {place[-1]} = ["fcfs-bb", "sjf-bb"], for example'
    if detail["type"] == "too_short":
        return f"{name}: is empty; name one, or leave the key out where it has a default"
    return f"{name}: {brief(detail['input'])} will not do: {_kind(place)}"


def _kind(place: list[str]) -> str:
    """What a key wants, in words."""
    kinds = {
        "seeds": "write how many, such as 5, or which: [0, 1, 2]",
        "window": 'write START:END, such as "1d:8d"',
        "parameters": "write [parameters] and below it lists, such as depth = [1, 2, 3]",
        "generators": 'write specs, such as ["lublin99:nodes=64"], or tables [[generators]] with a spec',
        "reference": "write one of the policies",
    }
    return kinds.get(place[0], 'write a list of texts, such as ["a", "b"]')


@dataclass(frozen=True)
class _Source:
    """Jobs as they are written: a workload, or what makes one."""

    spec: str
    made: bool
    models: tuple[str, ...]

    @property
    def key(self) -> str:
        """Where it stands."""
        return "generators" if self.made else "workloads"


class _Reader:
    """Turns a grid into runs; complaints begin with the file and the key."""

    def __init__(self, grid: Grid, where: str, folder: Path, given: Objects) -> None:
        self._grid, self._where, self._folder, self._given = grid, where, folder, given
        self._jobs: dict[_Source, Jobs] = {}
        self._known: set[tuple[str, str]] = set()  # keys and specs that can be loaded
        self._references: dict[tuple[_Source, str], tuple[str | None, str]] = {}
        self._metrics = self._own_metrics()

    def runs(self) -> list[Run]:
        """Every run, once."""
        sources, seeds = self._sources(), self._seeds()
        self._check_parameters(sources)
        window = self._window()
        grid = self._grid
        axes = (sources, grid.platforms, grid.job_models, grid.failures, grid.policies)
        self._check_size(axes, len(seeds))
        found: dict[str, Run] = {}
        for *place, policy in product(*axes):
            for run in self._at(place, policy, seeds, window):
                found.setdefault(run.key, run)
        if grid.reference is None:
            for place in product(*axes[:-1]):
                for run in self._at(place, None, seeds, window):
                    found.setdefault(run.key, run)
        reference = grid.reference or grid.policies[0]
        policies = {*grid.policies, *(run.tags["policy"] for run in found.values())}
        self._refuse(
            reference not in policies,
            "reference",
            f"{brief(reference)} is none of the policies: {nearest(reference, policies)}",
        )
        names = [self._called(text)[0] for text in dict.fromkeys(grid.policies)]
        twice = next((name for name in names if names.count(name) > 1), "")
        self._refuse(bool(twice), "policies", f"two are called {brief(twice)}; rename one")
        return list(found.values())

    def _at(
        self, place: Sequence[Any], policy: str | None, seeds: list[int], window: tuple[float, float] | None
    ) -> Iterator[Run]:
        """Runs under a policy in one place, for all values of parameters; without it, under the site's own, if any."""
        source, *others = place
        texts = (source.spec, *source.models, *others, policy or "")
        for values in self._values(texts):
            spec, *models, machine, behaviour, failing, scheduler = (_filled(text, values) for text in texts)
            specs = {"platforms": machine, "job_models": behaviour, "failures": failing, "policies": scheduler}
            for key, text in specs.items():
                if text and (key, text) not in self._known:
                    self._check(key, text)
                    self._known.add((key, text))
            filled = _Source(spec, source.made, tuple(models))
            own, reference = self._reference(filled, machine, seeds[0])
            if policy is None and own is None:
                continue
            called, scheduler = (SITE, own or "") if policy is None else self._called(scheduler)
            shown = self._given.names.get(spec, spec)
            written = (self._given.names.get(source.spec, source.spec), *others, policy or called)
            for seed in seeds:
                tags = dict(zip(COLUMNS, (shown, machine, behaviour, failing, called, seed), strict=True))
                words = [str(word) for key, word in tags.items() if word and key != "seed"]
                yield Run(
                    name=f"{' | '.join(words)} | seed {seed}",
                    jobs=self._jobs_of(filled, seed),
                    platform=self._placed(machine),
                    policy=scheduler if policy is None else self._placed(scheduler),
                    job_model=behaviour,
                    seed=seed,
                    failures=self._placed_trace(failing),
                    window=window,
                    metrics=self._metrics,
                    tags=tags
                    | {name: values.get(name) for name in self._grid.parameters}
                    | {"reference": reference in (policy, called, scheduler), WRITTEN: written},
                )

    def _reference(self, source: _Source, machine: str, seed: int) -> tuple[str | None, str]:
        """The policy of the site in a place, and what others are compared with there."""
        if self._grid.reference is not None:
            return None, self._grid.reference
        if (source, machine) not in self._references:
            jobs = self._jobs_of(source, seed)
            try:
                found = reference_of(jobs, self._placed(machine), self._grid.policies)
            except InputError as error:
                raise InputError(f"{self._where}: {source.key}: {error}") from None
            self._references[source, machine] = found
        return self._references[source, machine]

    def _own_metrics(self) -> tuple[str, ...]:
        """Those that the grid names, and that this process knows already."""
        from forebay.metrics._own import files, registry

        for name in self._grid.metrics:
            try:
                files.load(self._folder / name)
            except InputError as error:
                raise InputError(f"{self._where}: metrics: {error}") from None
        return registry.tokens()

    def _refuse(self, wrong: bool, key: str, text: str) -> None:
        if wrong:
            raise InputError(": ".join(filter(None, (self._where, key, text))))

    def _sources(self) -> list[_Source]:
        grid = self._grid
        common = tuple(grid.models)
        given = [one if isinstance(one, Generator) else Generator(spec=one) for one in grid.generators]
        made = [_Source(one.spec, True, common if one.models is None else tuple(one.models)) for one in given]
        found = [_Source(spec, False, common) for spec in grid.workloads] + made
        self._refuse(not found, "", "the grid is empty: name workloads, or generators of some")
        return found

    def _seeds(self) -> list[int]:
        given = self._grid.seeds
        n = given if isinstance(given, int) else len(given)
        self._refuse(n > MOST, "seeds", f"{brief(n)} of them; {MOST:,} is the most")
        seeds = list(range(given)) if isinstance(given, int) else given
        wrong = not seeds or min(seeds) < 0 or max(seeds) >= _INT64 or len(set(seeds)) < len(seeds)
        self._refuse(wrong, "seeds", f"{brief(given)} will not do: write how many, such as 5, or which: [0, 1, 2]")
        return seeds

    def _window(self) -> tuple[float, float] | None:
        return parse_period(self._grid.window, f"{self._where}: window")

    def _check_parameters(self, sources: list[_Source]) -> None:
        grid = self._grid
        texts = [text for one in sources for text in (one.spec, *one.models)]
        texts += [*grid.platforms, *grid.job_models, *grid.failures, *grid.policies]
        used = {name for text in texts for name in _PLACEHOLDER.findall(text)}
        for name in sorted(used - grid.parameters.keys()):
            known = nearest(name, grid.parameters) if grid.parameters else "there is no table [parameters]"
            raise InputError(f"{self._where}: {{{name}}} stands for no parameter; {known}")
        for name, values in grid.parameters.items():
            key = f"parameters.{name}"
            self._refuse(not values, key, "is empty; give its values")
            long = [value for value in values if isinstance(value, int) and abs(value) >= _INT64]
            self._refuse(bool(long), key, "has a number that does not fit 64 bits; write a smaller one")
            self._refuse(name in _TAKEN or _is_metric(name), key, "is the name of a column already; choose another")
            self._refuse(name not in used, key, f"is used nowhere; write {{{name}}} in a spec")

    def _check_size(self, axes: tuple[Sequence[Any], ...], seeds: int) -> None:
        """Refuse a grid that is too large, before it is laid out; parameters count where they are named."""
        n = seeds * math.prod(map(len, axes))
        if n <= MOST and self._grid.parameters:
            named = [[self._named(one) for one in axis] for axis in axes]
            sizes = {name: len(values) for name, values in self._grid.parameters.items()}
            n = seeds * sum(math.prod(map(sizes.__getitem__, set().union(*sets))) for sets in product(*named))
        self._refuse(n > MOST, "", f"asks for {n:,} runs, and {MOST:,} is the most; make it smaller")

    def _named(self, one: "_Source | str") -> set[str]:
        """The parameters that a source or a spec names."""
        texts = (one,) if isinstance(one, str) else (one.spec, *one.models)
        return {name for text in texts for name in _PLACEHOLDER.findall(text)}

    def _values(self, texts: tuple[str, ...]) -> Iterator[dict[str, Value]]:
        """Every choice of values for the parameters that these specs name."""
        used = {name for text in texts for name in _PLACEHOLDER.findall(text)}
        names = [name for name in self._grid.parameters if name in used]
        for values in product(*(self._grid.parameters[name] for name in names)):
            yield dict(zip(names, values, strict=True))

    def _check(self, key: str, text: str) -> None:
        """Refuse what cannot be loaded, before anything is run."""
        from forebay import _plugins, platforms, policies
        from forebay._run.site_policy import site_policy
        from forebay.platforms import failures

        if text in self._given.marks:
            return
        try:
            if key == "platforms":
                site_policy(platforms.load(self._placed(text)), self._placed(text))
            elif key == "policies":
                policies.load(self._placed(self._called(text)[1]))
            elif key == "failures":
                failures.load(self._placed_trace(text))
            else:
                _plugins.load("engine.jobmodels", _plugins.parse_spec(text)[0], "job model")
        except InputError as error:
            raise InputError(f"{self._where}: {key}: {error}") from None

    def _jobs_of(self, source: _Source, seed: int) -> Jobs:
        """Jobs of a source; those that nothing draws are the same under each seed."""
        draw = seed if source.made or source.models else 0
        if source not in self._jobs:
            try:
                self._jobs[source] = self._make_jobs(source)
            except InputError as error:
                raise InputError(f"{self._where}: {source.key}: {error}") from None
        return replace(self._jobs[source], draw=draw)

    def _make_jobs(self, source: _Source) -> Jobs:
        from forebay import _plugins
        from forebay.workload import models

        for spec in source.models:
            models.check(spec, "attach")
        if source.made:
            spec = self._placed(source.spec)
            if ".py:" in spec:
                generators.load(spec)
            else:
                models.check(spec, "generate")
            return made_by(spec, models=source.models)
        path = self._folder / source.spec
        check_regular(path)
        if path.is_file():
            return from_file(path, models=source.models)
        name = _plugins.find("workload.embedded", source.spec)
        if name is None:
            known = nearest(source.spec.lower(), _plugins.names("workload.embedded"))
            raise InputError(f"{path}: no such file, nor an embedded workload; {known}")
        return Jobs(name, models=source.models)

    def _called(self, text: str) -> tuple[str, str]:
        """What tables call a policy, and its spec; what an object is called is both."""
        if text in self._given.marks:
            return text, text
        label, spec = labels.apart(text)
        if labels.of_site(spec):
            raise InputError(f"policy {text!r}: the policy of a site joins the others by itself; leave it out")
        return label or spec, spec

    def _placed(self, spec: str) -> str:
        """A spec with its file where it is found from here; what an object is called, as its mark."""
        if spec in self._given.marks:
            return self._given.marks[spec]
        there = str(self._folder / spec)
        return there if files.path_in(there) else spec

    def _placed_trace(self, failures: str) -> str:
        trace = files.trace_in(failures)
        path = self._folder / trace
        check_regular(path)
        return failures.replace(trace, str(path), 1) if trace and path.is_file() else failures


def _is_metric(name: str) -> bool:
    """Whether a summary may have a number of this name."""
    from forebay.metrics._listing import find

    return find(name) is not None


def _filled(text: str, values: Mapping[str, Value]) -> str:
    return _PLACEHOLDER.sub(lambda found: _written(values[found[1]]), text)


def _written(value: Value) -> str:
    """A value as specs have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
