"""Workloads: read from files or by name, written, described, and changed by pure functions.

`read` and `write` pick the format by the file's name; `forebay.workload.operations` slices, joins and scales;
`forebay.workload.info` describes. `JOB_SCHEMA`, `LEG_SCHEMA` and `PHASE_SCHEMA` are the columns of its tables.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from forebay import _plugins
from forebay._support import forks
from forebay._support.files import as_path
from forebay._support.reading import check_regular
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError, listed, nearest, wrong_type
from forebay.workload import _source
from forebay.workload.dependencies import dependency_table
from forebay.workload.think_time import closed_loop
from forebay.workload.workload import Workload, job_table

__all__ = [
    "JOB_SCHEMA",
    "LEG_SCHEMA",
    "PHASE_SCHEMA",
    "Workload",
    "closed_loop",
    "dependency_table",
    "job_table",
    "read",
    "write",
]

_ROOMS = ("anonymity", "applications", "cleaning", "info", "models", "operations")
"""Modules that `forebay.workload.NAME` reaches without an import of their own."""

_FORMATS = "workload.formats"
_EMBEDDED = "workload.embedded"
_MODELS = "workload.models"


def read(
    source: str | os.PathLike[str],
    cancelled: str = "drop",
    skip_bad_lines: bool = False,
    progress: Callable[[int, int], None] | None = None,
    columns: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> Workload:
    """The workload in a file, or the embedded one of that name; a file wins.

    Parameters
    ----------
    source
        A file in any of `forebay formats`, known by its ending or its content, or an embedded workload: "table1",
        "default".
    cancelled
        Whether jobs that were cancelled before they started are left out ("drop") or kept with the time of it in the
        column `cancel` ("keep"). Formats that record no such jobs have none to keep.
    skip_bad_lines
        Whether a line of SWF or sacct that cannot be read is left out, counted and named in a note; else the first is
        refused.
    progress
        Called at times with how many bytes of a large file are read, and how many there are.
    columns
        Of a table in CSV or Parquet, which column is what: a known mapping such as "pm100", a TOML file, or pairs such
        as "submit=created,run_time=elapsed:min,nodes=hosts", also as a dictionary. See the reference, Tables of jobs.

    Returns
    -------
    Workload

    Examples
    --------
    >>> fb.read("table1")
    <Workload table1: 8 jobs submitted over 4 min for table1>
    """
    forks.check()
    if cancelled not in ("drop", "keep"):
        raise InputError(f"cancelled is {cancelled!r}; give 'drop' or 'keep'")
    path = as_path(source, "the workload to read")
    check_regular(path)
    if columns is not None:
        from forebay.workload.tables.reading import read as read_table

        return read_table(path, columns, skip_bad_lines)
    if os.path.isfile(path):  # unlike Path's own, it takes a name that is too long as that of no file
        module = _plugins.load(_FORMATS, _format_of(path), "format")
        options: dict[str, Any] = {"cancelled": cancelled, "skip_bad_lines": skip_bad_lines, "progress": progress}
        known = inspect.signature(module.read).parameters
        accepted = {name: value for name, value in options.items() if name in known}
        workload: Workload = module.read(path, **accepted)
        return workload
    name = _plugins.find(_EMBEDDED, str(source))
    if name is not None:
        workload = _plugins.load(_EMBEDDED, name, "workload").make()
        return workload
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder; name a workload file inside it")
    if _plugins.find(_MODELS, str(source).partition(":")[0]):
        raise InputError(
            f"{listed([str(source)], width=300)}: a model, not a workload; write one by forebay workload generate, or "
            "in Python have one by forebay.workload.models.generate(spec, seed)"
        )
    raise InputError(
        f"{listed([str(source)], width=300)}: no such file, nor an embedded workload; "
        f"{nearest(str(source).lower(), _plugins.names(_EMBEDDED))}"
    )


def write(workload: Workload, path: str | os.PathLike[str]) -> list[str]:
    """Write a workload in the format that the file's ending names.

    Parameters
    ----------
    workload
        What to write.
    path
        The file, such as "jobs.swf.gz" or "jobs.json".

    Returns
    -------
    list of str
        Notes on what the format cannot hold.

    Examples
    --------
    >>> notes = fb.write(fb.read("table1"), "table1.json")
    >>> notes[0]
    "the machine's size is not known: nb_res is the widest job's 3 nodes"
    >>> len(fb.read("table1.json"))
    8
    """
    if not isinstance(workload, Workload):
        raise wrong_type("what to write", workload, "a Workload first, then the file: write(workload, path)")
    path = as_path(path, "the file to write")
    name = _by_suffix(path)
    if name is None:
        known = ", ".join(suffix for suffixes in _suffixes().values() for suffix in suffixes)
        raise InputError(f"{path}: no format has this suffix; end the name in one of {known}")
    if "running_since" in workload.jobs.columns and name != "parquet":
        raise InputError(
            f"{path}: this format cannot say which jobs run already when a period begins; end the name in "
            ".parquet.zip, or write the whole trace"
        )
    notes: list[str] = _plugins.load(_FORMATS, name, "format").write(workload, path)
    return notes


def _suffixes() -> dict[str, tuple[str, ...]]:
    return {name: _plugins.load(_FORMATS, name, "format").SUFFIXES for name in _plugins.names(_FORMATS)}


def _by_suffix(path: Path) -> str | None:
    for name, suffixes in _suffixes().items():
        if path.name.lower().endswith(suffixes):
            return name
    return None


def _format_of(path: Path) -> str:
    """By what only one format begins with, else by the name's ending, else by what the content looks like."""
    head = _source.head(path)
    formats = {name: _plugins.load(_FORMATS, name, "format") for name in _plugins.names(_FORMATS)}
    for name, module in formats.items():
        if hasattr(module, "claims") and module.claims(head):
            return name
    known_name = _by_suffix(path)
    if known_name is not None:
        return known_name
    for name, module in formats.items():
        if module.matches(head):
            return name
    known = ", ".join(suffix for suffixes in _suffixes().values() for suffix in suffixes)
    raise InputError(f"{path}: neither name nor content show its format; rename it to end in one of {known}")


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(
            f"module 'forebay.workload' has no attribute {name!r}: {nearest(name, [*__all__, *_ROOMS])}"
        )
    return import_module(f"forebay.workload.{name}")
