"""What a study is: options in; runs, and how to report on them, out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from forebay._support.text import counted, shared
from forebay.errors import InputError, listed, nearest

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.runs import Run
    from forebay.results import Record

Finished = list[tuple["Run", "Record"]]


@dataclass(frozen=True)
class Options:
    """What of a study is wanted; None = all that study.toml names."""

    data: Path | None = None  # the folder of the authors' files
    quick: bool = False
    policies: tuple[str, ...] | None = None
    parts: tuple[int, ...] | None = None
    seeds: int | None = None
    sections: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """A table for people: texts, flush right but for the first `words` columns."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    words: int = 1


@dataclass
class Report:
    """What a study has found."""

    shown: list[Table] = field(default_factory=list)  # on the screen, and first in report.md
    detailed: list[Table] = field(default_factory=list)  # in report.md alone
    frames: dict[str, "pl.DataFrame"] = field(default_factory=dict)  # by the names of their CSV files
    figures: dict[str, Callable[[Path], list[Path]]] = field(default_factory=dict)  # by name: draws to a path
    headers: dict[str, list[str]] = field(default_factory=dict)  # of figures, by name: of what they are drawn
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def drawn_of(self, finished: Finished) -> Iterator[None]:
        """Figures that come in inside the block are drawn of these runs; one that has its header keeps it."""
        before = set(self.figures)
        yield
        new = [name for name in self.figures if name not in before]
        self.headers = dict.fromkeys(new, header(finished)) | self.headers


@dataclass(frozen=True)
class Plan:
    """The runs of a study as asked for, and what to make of them once they are finished."""

    title: str
    sections: tuple[str, ...]
    runs: list["Run"]
    report: Callable[[Finished], Report]
    notes: list[str] = field(default_factory=list)


def header(finished: Finished) -> list[str]:
    """What runs share, in the words of the line above figures: workload, machine, the policy if it is one, jobs."""
    machines = dict.fromkeys(run.platform for run, _ in finished)
    policies = {run.policy for run, _ in finished}
    return [
        shared((record.document["facts"]["workload"] for _, record in finished), "workloads"),
        shared(map(machine_text, machines), "machines"),
        *(policies if len(policies) == 1 else ()),
        *_jobs([record.summary["n_jobs"] for _, record in finished]),
    ]


def _jobs(numbers: list[int]) -> list[str]:
    least, most = min(numbers, default=0), max(numbers, default=0)
    return [counted(most, "job") if least == most else f"{least:,} to {most:,} jobs"] if numbers else []


def machine_text(spec: str) -> str:
    """A machine in the words of that line."""
    from forebay.platforms import load

    found = load(spec)
    return f"{found.name}, {counted(found.nodes, 'node')}"


class Study(Protocol):
    """The module of a study."""

    DESCRIPTION: str
    SECTIONS: tuple[str, ...]
    __doc__: str | None

    def plan(self, options: Options) -> Plan:
        """What to run for these options; raises before anything is written if something is missing."""


def chosen_sections(options: Options, known: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """The sections asked for, in the study's own order, else the usual ones."""
    for name in options.sections or ():
        if name not in known:
            raise InputError(f"unknown section {name!r}: {nearest(name, known)}")
    wanted = options.sections or usual
    return tuple(name for name in known if name in wanted)


def chosen_parts(options: Options, known: Sequence[int]) -> tuple[int, ...]:
    """The parts asked for, else all."""
    for part in options.parts or ():
        if part not in known:
            raise InputError(f"--parts: there is no part {part}; known: {listed(map(str, known))}")
    return tuple(part for part in known if options.parts is None or part in options.parts)


def policy_specs(names: Sequence[str], **wanted: str) -> dict[str, str]:
    """Full specs by the names users wrote: with these parameters added where a policy has them and none is given.

    Every spec is tried, so that a misspelt one is refused before anything runs.
    """
    from forebay import _plugins, policies

    specs = {}
    for name in names:
        spec, own_file = name, ".py:" in name
        if not own_file and "+" not in name:
            short, given = _plugins.parse_spec(name)
            known = policies.describe(short)["parameters"]
            given |= {key: value for key, value in wanted.items() if key in known and key not in given}
            spec = f"{short}:{','.join(f'{key}={value}' for key, value in given.items())}" if given else short
        policies.load(spec)
        specs[name] = spec
    return specs


def seeds_of(name: str, seeds: int, random: Sequence[str], plain: Sequence[str]) -> range:
    """Seeds worth running: one where a policy draws nothing, as study.toml says of those it names."""
    short = name.partition(":")[0]
    return range(1 if short in plain and short not in random else seeds)
