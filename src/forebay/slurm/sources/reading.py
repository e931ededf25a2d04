"""Which source a file is, recognised by its content; all that are given, put together."""

import os
from collections.abc import Sequence
from pathlib import Path

from forebay._support.files import as_path
from forebay.errors import InputError
from forebay.slurm.site import Site, assemble
from forebay.slurm.sources import accounting, conf, json_output, scontrol, script, sinfo
from forebay.slurm.sources.record import Source
from forebay.slurm.sources.text import load

BUFFERS = "burst_buffer.conf"
KINDS = (
    "slurm.conf, or what scontrol show node|partition|reservation|config|burstbuffer, sinfo or sacctmgr -P show "
    "qos|assoc printed, or a script or dump of sacctmgr"
)


def read(paths: Sequence[str | os.PathLike[str]]) -> Site:
    """The site that these files describe together; what a later one says counts."""
    if not paths:
        raise InputError(f"no description of a site: give {KINDS}")
    files = [as_path(path, "the description to read") for path in paths]
    sources = [source for path in files for source in _sources(path)]
    site = assemble(sources, ", ".join(str(path) for path in files[:3]))
    site.name = site.name or files[0].name.partition(".")[0]
    return site


def _sources(path: Path) -> list[Source]:
    text = load(path)
    if text.lstrip().startswith(("{", "[")):
        return [json_output.read(text, path)]
    if scontrol.is_config(text):
        return [scontrol.read_config(text, path)]
    if scontrol.is_shown(text):
        return [scontrol.read(text, path)]
    if script.is_script(text):
        return [script.read(text, path)]
    kind = accounting.kind_of(text)
    if kind is not None:
        return [accounting.read(text, path, kind)]
    head = sinfo.header(text)
    if head is not None:
        return [sinfo.read(text, path, head)]
    if "=" not in text and "include" not in text.lower():
        raise InputError(f"{path}: not a description of a site; give {KINDS}")
    found = conf.read(path)
    if any("burstbuffertype" in record.values for record in found.records):
        found.notes.append(_buffers(path.parent / BUFFERS))
    return [found]


def _buffers(path: Path) -> str:
    """A remark on the burst buffer: its configuration has pools and times, but no size."""
    text = f"{path.name} beside it has no size either" if path.is_file() else f"there is no {path.name} beside it"
    return (
        f"BurstBufferType is set, but slurm.conf does not tell how much there is, and {text}: add the output of "
        "scontrol show burstbuffer, or write the tier into the platform file"
    )
