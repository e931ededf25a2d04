"""Does the model of throughput foretell gains that it was not fitted to? Fits to some of the published gains alone.

All that is fitted elsewhere is fitted again, to the gains that a fit may see, from starts that know nothing of the
constants in use: what a server spends on a block, what a client does, the share of data moved before the file system
has grown, and what being malleable costs. The link's and the device's bandwidths are not, as everywhere.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from forebay.adhoc import Device, Link, growing_throughput, steady_throughput
from forebay.adhoc.throughput import D33_DEVICE, D33_LINK
from forebay.experiments import statistics
from forebay.studies._tables import Row, tagged
from forebay.studies.hercules2023._settings import Figures

_STARTS = ((1e-4, 1e-5, 1e9, 1e-5, 0.3, 0.01), (1e-3, 1e-6, 5e9, 1e-6, 0.5, 0.05))
"""Delays of writes and reads (s), bytes a second and delay of a client, the share, and the cost of being malleable."""
_LOW, _HIGH = (1e-7, 1e-8, 1e8, 1e-8, 0.0, 0.0), (1e-1, 1e-1, 1.25e10, 1e-1, 0.9, 0.2)
_MOST = 100  # evaluations from a start; more change nothing that is shown
_IN_LOGS = 4  # of these numbers, the first


class Fitted(NamedTuple):
    """What the model needs beside bandwidths."""

    write_delay: float
    read_delay: float
    stream: float
    latency: float
    share: float
    overhead: float


def gains(chosen: Figures, fitted: Fitted, rows: Sequence[Row]) -> np.ndarray:
    """Of some points, in per cent of the malleable throughput."""
    device = Device(D33_DEVICE.write, D33_DEVICE.read, fitted.write_delay, fitted.read_delay)
    link, found = Link(D33_LINK.bandwidth, fitted.stream, fitted.latency), dict[tuple[str, int, int], float]()
    for kind, block in {(row["kind"], row["block"]) for row in rows}:
        static = steady_throughput(chosen.clients, chosen.servers, block, device, link, reads=kind == "read")
        malleable = growing_throughput(static, static[-1], fitted.share, fitted.overhead)
        for servers, value in zip(chosen.servers, 100 * (1 - static / malleable), strict=True):
            found[kind, block, servers] = float(value)
    return np.array([found[row["kind"], row["block"], row["servers"]] for row in rows])


def fit(chosen: Figures, rows: Sequence[Row]) -> Fitted:
    """The least squares of differences in points."""
    from scipy.optimize import least_squares

    def laid(values: Sequence[float]) -> np.ndarray:
        return np.concatenate([np.log(values[:_IN_LOGS]), values[_IN_LOGS:]])

    def unlaid(x: np.ndarray) -> Fitted:
        return Fitted(*np.exp(x[:_IN_LOGS]).tolist(), *x[_IN_LOGS:].tolist())

    def apart(x: np.ndarray) -> np.ndarray:
        off: np.ndarray = gains(chosen, unlaid(np.clip(x, low, high)), rows) - published
        return off

    published = np.array([row["published"] for row in rows])
    low, high = laid(_LOW), laid(_HIGH)
    found: list[Any] = [least_squares(apart, laid(start), bounds=(low, high), max_nfev=_MOST) for start in _STARTS]
    return unlaid(min(found, key=lambda one: float(one.cost)).x)


def predicted(chosen: Figures, rows: Sequence[Row]) -> Iterator[Row]:
    """Every published gain beside what is foretold of it by a fit that has not seen it."""
    known = [row for row in rows if row["published"] is not None]
    yield from _across(chosen, known)
    yield from left_out(chosen, known)


def _across(chosen: Figures, known: Sequence[Row]) -> Iterator[Row]:
    """Each scaling by the other."""
    for one, other in (("weak", "strong"), ("strong", "weak")):
        seen = tagged(known, scaling=one)
        fitted = fit(chosen, seen)
        for row in tagged(known, scaling=other):
            yield _beside(chosen, f"{one} scaling foretells {other}", fitted, seen, row)


def left_out(chosen: Figures, known: Sequence[Row]) -> Iterator[Row]:
    """Each by all others."""
    for k, row in enumerate(known):
        seen = [*known[:k], *known[k + 1 :]]
        yield _beside(chosen, "all others foretell one", fit(chosen, seen), seen, row)


def _beside(chosen: Figures, split: str, fitted: Fitted, seen: Sequence[Row], row: Row) -> Row:
    """What the fit says, and what the mean of the gains that it saw of the same kind and number of data nodes says."""
    alike = tagged(seen, kind=row["kind"], servers=row["servers"]) or tagged(seen, servers=row["servers"]) or seen
    names = ("figure", "scaling", "block", "kind", "servers", "published")
    said = {
        "foretold": float(gains(chosen, fitted, [row])[0]),
        "alike": statistics.mean([one["published"] for one in alike]),
    }
    return {"split": split, **{name: row[name] for name in names}, **said, **fitted._asdict()}


def errors(rows: Sequence[Row]) -> list[Row]:
    """Of every split: how far off the fit is on average and at most, and how far the mean of gains alike is."""
    found = []
    for split in dict.fromkeys(row["split"] for row in rows):
        mine = tagged(rows, split=split)
        off = {name: [abs(row[name] - row["published"]) for row in mine] for name in ("foretold", "alike")}
        made: Row = {"split": split, "n": len(mine)}
        for name, values in off.items():
            made |= {f"{name}_off": statistics.mean(values), f"{name}_off_most": max(values)}
        found.append(made)
    return found
