"""ElastiSim's jobs with their application models, as a workload."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay._support.files import as_path
from forebay._support.text import counted
from forebay.elastisim import model as models
from forebay.elastisim.application import Totals, Writer
from forebay.elastisim.job import Job, JobFacts
from forebay.elastisim.model import Model
from forebay.elastisim.platform import Machine
from forebay.elastisim.tables import Tables
from forebay.errors import InputError, brief, listed, nearest
from forebay.workload import Workload, _source, job_table
from forebay.workload._checks.jobs import checked
from forebay.workload._checks.rules import MOST_NODES
from forebay.workload.applications import TYPES
from forebay.workload.formats._json_values import count, member, number, parse, text

_KEYS = {
    *("type", "submit_time", "application_model", "walltime", "arguments", "attributes", "num_nodes"),
    *("num_nodes_min", "num_nodes_max", "num_gpus_per_node", "num_gpus_per_node_min", "num_gpus_per_node_max"),
}


def read(
    path: str | os.PathLike[str],
    machine: Machine | None = None,
    clip: bool = True,
    folders: Sequence[Path] = (),
) -> Workload:
    """The jobs in a file: see `read_all`."""
    return read_all(path, machine, clip, folders)[0]


def read_all(
    path: str | os.PathLike[str],
    machine: Machine | None = None,
    clip: bool = True,
    folders: Sequence[Path] = (),
) -> tuple[Workload, tuple[JobFacts, ...]]:
    """The jobs in a file, and what algorithms may know of each.

    Jobs are numbered from 0 in the order of their submission, as ElastiSim does, and keep their times: the first need
    not arrive at 0. A job prefers num_nodes if it is rigid, else num_nodes_max, or as many as the machine has. Its
    `run_time`, `flop` and `communication` are those of all its rounds at that size, without what it reads and writes.

    `clip` keeps evolving requests within a job's sizes. Models are looked for in these folders, in the file's own and
    in the working one. Tasks of GPUs, striped burst buffers and windows of messages need the machine.
    """
    path = as_path(path, "the jobs to read")
    source = _source.load(path)
    document = parse(source.data, str(path))
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list) or not jobs:
        raise InputError(f"{path}: has no list 'jobs' with jobs; name ElastiSim's file of jobs")
    reader = _Reader(path, machine, clip, (*folders, path.parent, Path()))
    order = reader.order(jobs)
    for k in order:
        reader.add(jobs[k], k)
    workload = Workload(
        name=source.stem((".json", ".json.gz")),
        jobs=job_table(reader.columns),
        applications=reader.tables.made(),
        records=len(jobs),
        notes=reader.notes(order),
        provenance=(f"read {source.name} (ElastiSim)",),
        sha256=source.sha256,
    )
    return checked(workload, path), tuple(reader.facts)


class _Reader:
    def __init__(self, path: Path, machine: Machine | None, clip: bool, folders: Sequence[Path]) -> None:
        self.path, self.machine, self.clip, self.folders = path, machine, clip, folders
        self.tables = Tables()
        self.models: dict[str, Model] = {}
        self.facts: list[JobFacts] = []
        self.unlimited = 0
        self.unknown: set[str] = set()
        names = ("id", "submit", "walltime", "run_time", "flop", "communication", "nodes")
        self.columns: dict[str, list[Any]] = {name: [] for name in names}

    def order(self, jobs: list[Any]) -> list[int]:
        """Places in the file, by time of submission."""
        times = []
        for k, job in enumerate(jobs):
            where = self._where(k)
            if not isinstance(job, dict):
                raise InputError(f"{where}: is {brief(job)}; it must be an object")
            submit = number(member(job, "submit_time", where), where, "submit_time")
            if submit < 0:
                raise InputError(f"{where}: 'submit_time' is {brief(submit)}; it must be 0 or more")
            times.append(submit)
        return sorted(range(len(jobs)), key=times.__getitem__)

    def notes(self, order: list[int]) -> tuple[str, ...]:
        """What there is to say of all jobs."""
        notes = [note for model in self.models.values() for note in model.notes]
        if order != sorted(order):
            notes.append("jobs are numbered in the order of their submission, which is not that of the file")
        if self.unlimited:
            notes.append(
                f"{counted(self.unlimited, 'job has', 'jobs have')} a walltime that is no whole number, which "
                "ElastiSim takes as none"
            )
        if self.unknown:
            notes.append(f"keys of jobs that mean nothing here: {listed(sorted(self.unknown))}")
        if self.machine is not None and self.machine.gpus is not None:
            notes.append("work of GPUs is in seconds, at the speed that they have in the platform file")
        return tuple(dict.fromkeys(notes))

    def _where(self, place: int) -> str:
        return f"{self.path}: jobs[{place}]"

    def add(self, table: Mapping[str, Any], place: int) -> None:
        """One more job; messages name it by its place in the file, for its number is another."""
        where = self._where(place)
        kind = text(member(table, "type", where), where, "type").lower()
        if kind not in TYPES:
            raise InputError(f"{where}: unknown type {brief(table['type'])}; {nearest(kind, TYPES)}")
        self.unknown |= table.keys() - _KEYS
        least, most = self._sizes(table, kind, where)
        gpus = self._gpus(table, kind, where)
        job = Job(len(self.columns["id"]), where, kind, least, most, gpus, _arguments(table.get("arguments"), where))
        preferred = most
        if self.machine is not None:
            preferred = max(least, min(most, self.machine.platform.nodes))
        walltime = self._walltime(table.get("walltime"))
        self.tables.reserve(most - least + 1, where)
        self.tables.block("sizes", job.number, job.sizes, walltime)
        writer = Writer(job, self.machine, self.tables, self.clip)
        totals = writer.write(self._model(member(table, "application_model", where), where), preferred)
        self._row(job, float(table["submit_time"]), walltime, preferred, totals)
        attributes = _texts(table.get("attributes"), where, "attribute")
        limit = int(walltime) if walltime < float("inf") else 0
        self.facts.append(JobFacts(kind, least, most, gpus, limit, totals.rounds, job.arguments, attributes))

    def _row(self, job: Job, submit: float, walltime: float, nodes: int, totals: Totals) -> None:
        values = (job.number, submit, walltime, totals.seconds, totals.flop, totals.communication, nodes)
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def _sizes(self, table: Mapping[str, Any], kind: str, where: str) -> tuple[int, int]:
        keys = ("num_nodes", "num_nodes") if kind == "rigid" else ("num_nodes_min", "num_nodes_max")
        least, most = (count(member(table, key, where), where, key) for key in keys)
        for key, value in zip(keys, (least, most), strict=True):
            if not 1 <= value <= MOST_NODES:
                raise InputError(f"{where}: {key!r} is {value}; it must be from 1 to {MOST_NODES:,}")
        if least > most:
            raise InputError(f"{where}: num_nodes_min is {least}, more than num_nodes_max, {most}; swap them?")
        return least, most

    def _gpus(self, table: Mapping[str, Any], kind: str, where: str) -> int:
        rigid = kind == "rigid"
        keys = ("num_gpus_per_node",) if rigid else ("num_gpus_per_node_min", "num_gpus_per_node_max")
        found = [count(table.get(key, 0), where, key) for key in keys]
        if len(set(found)) > 1:
            raise InputError(f"{where}: its GPUs a node may be {found[0]} to {found[1]}; only one number can be read")
        return found[0]

    def _walltime(self, value: Any) -> float:
        """ElastiSim takes whole numbers alone; 0 is no limit."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return float(value) or float("inf")
        self.unlimited += value is not None
        return float("inf")

    def _model(self, value: Any, where: str) -> Model:
        name = text(value, where, "application_model")
        if name not in self.models:
            found = find(name, self.folders)
            if found is None:
                looked = listed(places(self.folders), width=200)
                raise InputError(f"{where}: its application model {name!r} is not there; looked in {looked}")
            self.models[name] = models.read(found)
        return self.models[name]


def find(name: str, folders: Sequence[Path]) -> Path | None:
    """The first file of that name; None if there is none."""
    return next((folder / name for folder in folders if os.path.isfile(folder / name)), None)


def places(folders: Sequence[Path]) -> list[str]:
    """The folders, each once, as messages show them."""
    return list(dict.fromkeys(str(folder.resolve()) for folder in folders))


def _arguments(value: Any, where: str) -> dict[str, str]:
    """Arguments as the text that is put into formulas."""
    found = _texts(value, where, "argument")
    for name in found:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
            raise InputError(f"{where}: the argument {brief(name)} is no name; use letters, digits and _")
    return found


def _texts(value: Any, where: str, what: str) -> dict[str, str]:
    """Values by name, as text: of a float, six decimals."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{where}: '{what}s' is {brief(value)}; it must be an object")
    found = {}
    for name, one in value.items():
        if isinstance(one, str):
            found[name] = one
        elif isinstance(one, int) and not isinstance(one, bool) and -(2**63) <= one < 2**63:
            found[name] = str(one)
        else:
            found[name] = f"{number(one, where, name):.6f}"
    return found
