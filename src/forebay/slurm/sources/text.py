"""Files of text as sites have them: in UTF-8 or an older code, with any ends of lines."""

from pathlib import Path

from forebay.errors import InputError
from forebay.workload import _source

MOST = 256 * 2**20
"""Bytes: `scontrol show node` of 100,000 nodes has a quarter of this."""


def load(path: Path) -> str:
    """The text of a file. Comments may be in any code: only ASCII has a meaning in these files."""
    data = _source.load(path).data
    if len(data) > MOST:
        raise InputError(f"{path}: has {len(data) / 1e6:,.0f} MB; no description of a cluster is so long")
    if b"\0" in data:
        raise InputError(f"{path}: not text; give slurm.conf, or what scontrol, sinfo or sacctmgr printed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")
