"""What a node has, by the rules of slurm.conf: CPUs from sockets, cores and threads, less what is set apart."""

import re
from dataclasses import dataclass

from forebay.errors import InputError, brief
from forebay.slurm.sources import values
from forebay.slurm.sources.record import Record


@dataclass(frozen=True)
class Node:
    """One node; equal ones are alike in all that a schedule can ask for."""

    cores: int  # what Slurm calls CPUs: threads, where it gives out threads
    threads: int = 1  # of a core that are CPUs of their own
    memory: int | None = None  # bytes; None where it is not given
    gpus: int = 0
    gpu: str = ""  # their type
    features: tuple[str, ...] = ()
    weight: int = 1  # nodes of less weight are taken first


def make_node(record: Record, all_usable: bool) -> tuple[Node, list[str]]:
    """The node of a record, and its generic resources other than GPUs.

    `all_usable`: whether jobs may have what CoreSpecCount and MemSpecLimit set apart.
    """
    cpus, threads = _cpus(record)
    if not all_usable:
        cpus -= _apart(record, cpus, threads)
    memory = _memory(record, all_usable)
    kinds, others = values.gpus(record.get("Gres"), record.where)
    named = [kind for kind in kinds if kind]
    # A class of nodes has GPUs of one type: of several types on a node the most frequent stands for all.
    kind = max(named, key=lambda one: kinds[one], default="")
    features = tuple(sorted(values.words(record.get("Features", "Feature", "AvailableFeatures"))))
    weight = _number(record, "Weight", 1, least=0)
    return Node(cpus, threads, memory, sum(kinds.values()), kind, features, weight), [
        *others,
        *(f"types {', '.join(named)} on one node" for _ in named[1:2]),
    ]


def _number(record: Record, key: str, default: int, least: int = 1) -> int:
    text = record.get(key)
    number = values.count(text, record.where, key) if text else default
    if number < least or (number > 10**6 and key != "Weight"):
        raise InputError(f"{record.where}: {key} is {brief(text)}; write a number from {least} to 1,000,000")
    return number


def _cpus(record: Record) -> tuple[int, int]:
    """CPUs of a node and the threads of a core that are CPUs.

    CPUs that match neither sockets nor cores nor threads are set to all threads, as slurmctld does.
    """
    cores, threads, boards = (_number(record, key, 1) for key in ("CoresPerSocket", "ThreadsPerCore", "Boards"))
    given = record.get("CPUs", "Procs")
    cpus = _number(record, "CPUs" if record.get("CPUs") else "Procs", 0) if given else 0
    if record.get("SocketsPerBoard"):
        sockets = boards * _number(record, "SocketsPerBoard", 1)
    elif record.get("Sockets"):
        sockets = _number(record, "Sockets", 1)
    elif cpus and cpus % (cores * threads) == 0:
        sockets = cpus // (cores * threads)
    else:
        sockets = boards
    by_thread = sockets * cores * threads
    if cpus not in (sockets, sockets * cores):
        cpus = by_thread
    if not 1 <= cpus <= 10**6:
        raise InputError(f"{record.where}: {cpus:,} CPUs on a node; correct Sockets, CoresPerSocket and ThreadsPerCore")
    return cpus, threads if cpus == by_thread else 1


def _apart(record: Record, cpus: int, threads: int) -> int:
    """CPUs that jobs do not get. More than there are count as Slurm has it: one core."""
    listed = record.get("CpuSpecList")
    if listed:
        spans = re.findall(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", listed)
        chosen = sum(int(last or first) - int(first) + 1 for first, last in spans)
    else:
        chosen = _number(record, "CoreSpecCount", 0, least=0) * threads
    return chosen if 0 <= chosen < cpus else min(threads, cpus - 1)


def _memory(record: Record, all_usable: bool) -> int | None:
    text, apart = record.get("RealMemory"), record.get("MemSpecLimit")
    if not text:
        return None
    size = values.memory(text, record.where, "RealMemory")
    kept = 0 if all_usable or not apart else values.memory(apart, record.where, "MemSpecLimit")
    return (size - kept if kept < size else size) or None
