"""Figs. 3.4 and 3.5: throughputs of a static and a malleable Hercules by the fitted model, and the gains."""

import numpy as np

from forebay.adhoc import growing_throughput, steady_throughput
from forebay.studies._expected import Expected
from forebay.studies._tables import Row
from forebay.studies.hercules2023._settings import Figures

KINDS = ("write", "read")
SCALINGS = {"weak": "Fig. 3.4", "strong": "Fig. 3.5"}


def rows_of(chosen: Figures, expected: Expected) -> list[Row]:
    """A row for each point of the figures; what is published of it is None where the text has no number.

    A gain is a share of the malleable throughput. The model knows rates, not sizes of files: weak and strong scaling
    are the same to it.
    """
    made: list[Row] = []
    for scaling, figure in SCALINGS.items():
        for block in chosen.blocks:
            for kind in KINDS:
                static = throughput(chosen, kind, block)
                malleable = growing_throughput(static, static[-1])
                for k, servers in enumerate(chosen.servers):
                    metric = f"gain_{kind}_{scaling}_{block}"
                    found = expected.find(section="published", part=servers, policy="malleable", metric=metric)
                    gain = 100 * float(1 - static[k] / malleable[k])
                    made.append(
                        {
                            "figure": figure,
                            "scaling": scaling,
                            "block": block,
                            "kind": kind,
                            "servers": servers,
                            "static": float(static[k]),
                            "malleable": float(malleable[k]),
                            "gain": gain,
                            "published": None if found is None else found.value,
                            "apart": None if found is None else gain - found.value,
                        }
                    )
    return made


def throughput(chosen: Figures, kind: str, block: int) -> np.ndarray:
    """Bytes a second of a static file system, for each number of data nodes."""
    found: np.ndarray = steady_throughput(chosen.clients, chosen.servers, block, reads=kind == "read")
    return found


def factor(chosen: Figures, kind: str) -> float:
    """How many times as fast the largest blocks are as the smallest, on average over the numbers of data nodes."""
    large, small = (throughput(chosen, kind, block) for block in (max(chosen.blocks), min(chosen.blocks)))
    return float(np.mean(large / small))


def size(block: int) -> str:
    """256 kB, 1 MB."""
    return f"{block / 1e6:g} MB" if block >= 10**6 else f"{block / 1e3:g} kB"
