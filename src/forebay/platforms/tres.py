"""Trackable resources, as Slurm's limits name them: `node=20,gres/gpu=8,mem=2T`."""

import re

from forebay.core.units import parse_bytes
from forebay.errors import InputError, brief, listed, nearest

_WORDS = {"node": "nodes", "nodes": "nodes", "cpu": "cores", "cores": "cores", "mem": "memory", "memory": "memory"}
_PREFIXES = ("gres/", "bb/", "license/", "licenses/")
_IN_VAIN = ("billing", "energy", "fs/disk", "pages", "vmem")
_MEGABYTE = 2**20
_FORM = "write amounts such as node=20,cpu=400,mem=2T,gres/gpu=8"

TRES = dict[str, int]
"""Amount by what is counted: nodes, cores, memory (bytes), gpus, gpus_TYPE, or a resource by its name."""


def name_of(word: str) -> str:
    """What a name of Slurm's counts here: `gres/gpu:a100` is gpus_a100, `bb/datawarp` the resource datawarp."""
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    prefix, slash, rest = word.partition("/")
    if not slash:
        return "gpus" if word.lower() == "gpu" else word
    if f"{prefix.lower()}/" not in _PREFIXES or not rest:
        raise InputError(f"{brief(word)} is not counted: {nearest(word, [*_WORDS, 'gres/gpu', 'bb/', 'license/'])}")
    kind, _, model = rest.partition(":")
    if prefix.lower() != "gres":
        return rest
    return (f"gpus_{model}" if model else "gpus") if kind.lower() == "gpu" else kind


def word_of(name: str) -> str:
    """What Slurm calls it in the reasons of jobs that wait."""
    if name == "gpus" or name.startswith("gpus_"):
        return "GRES"
    return {"nodes": "Node", "cores": "Cpu", "memory": "Mem"}.get(name, "BB")


def parse_tres(text: str) -> TRES:
    """The amounts of a limit. Memory without a unit is in MiB, as in Slurm; -1 stands for no limit."""
    found: TRES = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        word, equals, amount = (part.strip() for part in item.partition("="))
        if not equals or not word or not amount:
            raise InputError(f"{brief(item)} is not an amount; {_FORM}")
        if word.lower() in _IN_VAIN:
            raise InputError(f"{word} is not counted here; leave it out ({listed(_IN_VAIN)} are not)")
        name = name_of(word)
        if name in found:
            raise InputError(f"{word} is given twice; keep one")
        if amount != "-1":
            found[name] = _amount(name, word, amount)
    return found


def _amount(name: str, word: str, text: str) -> int:
    if re.fullmatch(r"[0-9]{1,18}", text):
        return int(text) * (_MEGABYTE if name == "memory" else 1)
    in_bytes = name == "memory" or (name not in _WORDS.values() and word_of(name) == "BB")
    if not in_bytes:
        raise InputError(f"{word}={brief(text)} is not a whole number; {_FORM}")
    # Slurm counts in 1024s, and says so by a single letter.
    letter = re.fullmatch(r"([0-9]+)([KMGTP])", text, re.IGNORECASE)
    return parse_bytes(f"{letter[1]} {letter[2].upper()}iB" if letter else text)
