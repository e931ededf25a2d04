"""The reservations of a site, in the seconds of a workload: when, which nodes, and whose jobs may use them."""

from typing import Any

import numpy as np

from forebay.core.tables import PLANNED
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.workload.dates import seconds_of
from forebay.workload.names import called
from forebay.workload.workload import Workload


def planned_of(workload: Workload, platform: Platform) -> tuple[np.ndarray, np.ndarray]:
    """The reservations as a State shows them, and by job those that it may use, as bits.

    They stay in the order of the platform: whom they hold back follows from their places.
    """
    planned = np.zeros(len(platform.reservations), PLANNED)
    member = np.zeros(len(workload) if len(planned) else 0, np.int64)
    for k, one in enumerate(platform.reservations):
        start, end = period_of(workload, one)
        planned[k] = start, end, _atoms(platform, one)
        for column, names in (("user", one.users), ("account", one.accounts)):
            if column not in workload.jobs.columns:
                continue
            numbers = workload.jobs[column].unique().to_list()
            wanted = [number for number in numbers if number >= 0 and called(workload.names, column, number) in names]
            member |= np.isin(workload.jobs[column].to_numpy(), wanted).astype(np.int64) << k
    return planned, member


def period_of(workload: Workload, one: Reservation) -> tuple[float, float]:
    """When a reservation begins and ends, in a workload's seconds."""
    try:
        start = seconds_of(workload, one.start)
        end = start + (one.duration or 0.0) if one.end is None else seconds_of(workload, one.end)
    except InputError as error:
        raise InputError(f"reservation {one.name}: {error}") from None
    if not end > start:
        raise InputError(f"reservation {one.name} ends at {end:.10g} s, before it begins at {start:.10g} s; correct it")
    return start, end


def reserved_of(workload: Workload, platform: Platform) -> list[dict[str, Any]]:
    """When and where nodes were reserved, for the facts of a run: stretches of ids, and a workload's seconds."""
    found = []
    for one in platform.reservations:
        start, end = period_of(workload, one)
        edges = np.flatnonzero(np.diff(_units(platform, one).astype(np.int8), prepend=0, append=0))
        stretches = [[int(low), int(high) - 1] for low, high in zip(edges[::2], edges[1::2], strict=True)]
        found.append({"name": one.name, "start": start, "end": end, "nodes": stretches})
    return found


def _nodes(platform: Platform, one: Reservation) -> np.ndarray:
    """Which nodes it is of."""
    reserved = np.zeros(platform.nodes, bool)
    for low, high in one.stretches(platform.classes, platform.nodes):
        reserved[low : high + 1] = True
    return reserved


def _units(platform: Platform, one: Reservation) -> np.ndarray:
    """Which of what ids count: nodes, or their cores where jobs share them."""
    reserved = _nodes(platform, one)
    if not platform.sharing:
        return reserved
    cores = np.repeat([each.cores for each in platform.classes], [each.nodes for each in platform.classes])
    return np.repeat(reserved, cores)


def _atoms(platform: Platform, one: Reservation) -> int:
    """The atoms of its nodes, as bits: none lies inside and outside, as reservations divide them."""
    reserved = _nodes(platform, one)
    if reserved.all():
        return -1
    return sum(1 << a for a, atom in enumerate(platform.atoms) if reserved[atom.first])


def reason_of(closed: Reservation) -> tuple[str, str, str]:
    """Why a reservation holds jobs back: in a word, in Slurm's, and in a sentence."""
    return "reservation", "ReqNodeNotAvail", f"it would not end before reservation {closed.name} begins"
