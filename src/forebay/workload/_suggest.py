"""The machine that a trace suggests: what was in use at once, and nodes on which all of its jobs could run."""

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.core.schemas import INSIDE
from forebay.core.units import format_bytes
from forebay.workload import _source
from forebay.workload.names import called
from forebay.workload.workload import Workload

_KINDS = 3  # kinds of nodes that a remark lists
_Numbers = NDArray[np.int64]


def most_in_use(start: NDArray[Any], run_time: NDArray[Any], amount: NDArray[Any]) -> int:
    """The most that jobs held at once."""
    moments = np.concatenate([start + run_time, start])  # ends go before starts
    return int(np.concatenate([-amount, amount])[np.argsort(moments, kind="stable")].cumsum().max(initial=0))


def peaks(w: Workload) -> dict[str, int] | None:
    """The most nodes that were in use at once, and cores, memory and GPUs, where jobs ask for any; by recorded starts.

    None where not all that ran have one.
    """
    ran = _ran(w)
    return None if ran is None else {name: _peak(ran, name) for name in ("nodes", *INSIDE) if _asked(ran, name)}


def peaks_text(found: dict[str, int]) -> str:
    """Amounts in words: "12,534 cores, 40 GPUs and 3 TB of memory"."""
    words = {"nodes": "node", "cores": "core", "gpus": "GPU"}
    order = [name for name in ("nodes", "cores", "gpus", "memory") if name in found]
    parts = [
        counted(found[name], words[name]) if name in words else f"{format_bytes(found[name])} of memory"
        for name in order
    ]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _ran(w: Workload) -> pl.DataFrame | None:
    if "recorded_start" not in w.jobs.columns:
        return None
    ran = w.jobs.filter(pl.col("cancel").is_infinite())
    return None if not len(ran) or ran["recorded_start"].is_nan().any() else ran


def _asked(jobs: pl.DataFrame, name: str) -> bool:
    return name in jobs.columns and bool((jobs[name] > 0).any())


def _column(jobs: pl.DataFrame, name: str, unknown: int = 0) -> _Numbers:
    return jobs[name].to_numpy() if name in jobs.columns else np.full(len(jobs), unknown, np.int64)


def _peak(jobs: pl.DataFrame, name: str) -> int:
    return most_in_use(*(jobs[column].to_numpy() for column in ("recorded_start", "run_time", name)))


@dataclass(frozen=True)
class Class:
    """Nodes of one kind."""

    name: str
    nodes: int
    cores: int
    memory: int  # bytes; 0 = no job asks for any
    gpus: int
    gpu: str
    features: tuple[str, ...]

    @property
    def text(self) -> str:
        """Their number, and what is in each."""
        inside = [counted(self.cores, "core")]
        inside += [counted(self.gpus, "GPU") + (f" ({self.gpu})" if self.gpu else "")] if self.gpus else []
        inside += [format_bytes(self.memory)] if self.memory else []
        having = f" with {' and '.join(self.features)}" if self.features else ""
        return f"{counted(self.nodes, 'node')} of {', '.join(inside)}{having}"


@dataclass(frozen=True)
class Suggestion:
    """Nodes that jobs share: as many of each kind as hold what was in use at once, and the widest job."""

    classes: tuple[Class, ...]

    @property
    def spec(self) -> str | None:
        """As a spec of the preset flat; None where it takes a file."""
        if len(self.classes) > 1 or self.classes[0].gpu or self.classes[0].features:
            return None
        one = self.classes[0]
        more = (f",memory={one.memory}B" if one.memory else "") + (f",gpus={one.gpus}" if one.gpus else "")
        return f"flat:nodes={one.nodes},cores={one.cores}{more},sharing=true"

    def toml(self, name: str) -> str:
        """As a platform file."""
        lines = [f"# The least that held the jobs of {json.dumps(name)} at once, as recorded.", 'name = "suggested"']
        lines += ["sharing = true"]
        for one in self.classes:
            lines += ["", f"[classes.{one.name}]", f"nodes = {one.nodes}", f"cores = {one.cores}"]
            lines += [f'memory = "{one.memory} B"'] if one.memory else []
            lines += [f"gpus = {one.gpus}"] if one.gpus else []
            lines += [f"gpu = {json.dumps(one.gpu)}"] if one.gpu else []
            lines += [f"features = {json.dumps(list(one.features))}"] if one.features else []
        return "\n".join([*lines, ""])


def note(w: Workload, nodes: int) -> list[str]:
    """A remark on a machine with shared nodes, where it would be smaller than `nodes`, or jobs ask for GPUs."""
    found, most = suggestion(w), peaks(w)
    if found is None or most is None:
        return []
    if sum(one.nodes for one in found.classes) >= nodes and "gpus" not in most:
        return []
    inside = peaks_text({name: much for name, much in most.items() if name != "nodes"})
    kinds = [one.text for one in found.classes[:_KINDS]]
    left = len(found.classes) - _KINDS
    kinds += [f"and {counted(left, 'kind')} more"] if left > 0 else []
    how = f"--platform {found.spec}" if found.spec else "workload info --write-platform FILE writes them"
    return [_source.inferred_machine(inside, "; ".join(kinds), how)]


def suggestion(w: Workload) -> Suggestion | None:
    """Nodes for all jobs of a trace with the cores and the start of each job; None for other traces.

    Jobs that name features or a type of GPU have nodes of their own, and all others have those of the first class.
    """
    ran = _ran(w)
    if ran is None or "cores" not in ran.columns or (ran["cores"] <= 0).any() or (ran["nodes"] <= 0).any():
        return None
    gpus, types = _column(ran, "gpus") > 0, _column(ran, "gpu", -1)
    known = types[gpus & (types >= 0)]
    usual = int(np.bincount(known).argmax()) if len(known) else -1  # jobs that take GPUs of any type get these
    kinds = np.stack(
        [_column(ran, "features", -1), np.where(gpus, np.where(types >= 0, types, usual), -1), gpus], axis=1
    )
    every, at = np.unique(kinds, axis=0, return_inverse=True)
    order = sorted(range(len(every)), key=lambda k: (every[k, 0] >= 0, every[k, 2], k))
    classes: list[Class] = []
    for k in order:
        feature, gpu, with_gpus = every[k].tolist()
        features = tuple(called(w.names, "features", feature).split("&")) if feature >= 0 else ()
        kind = called(w.names, "gpu", gpu) if gpu >= 0 else ""
        words = [*features, *([kind or "gpu"] if with_gpus else [])] or ["node"]
        name = _name("-".join(words), [one.name for one in classes])
        classes.append(_class(ran.filter(pl.Series(at.reshape(-1) == k)), name, kind, features))
    return Suggestion(tuple(classes))


def _name(text: str, taken: list[str]) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-") or "node"
    return name if name not in taken else f"{name}-{len(taken) + 1}"


def _class(jobs: pl.DataFrame, name: str, gpu: str, features: tuple[str, ...]) -> Class:
    nodes = jobs["nodes"].to_numpy()
    each = {one: int((-(-_column(jobs, one) // nodes)).max()) for one in INSIDE}
    needed = [-(-_peak(jobs, one) // much) for one, much in each.items() if much]
    return Class(name, max(int(nodes.max()), *needed), each["cores"], each["memory"], each["gpus"], gpu, features)
