"""Where jobs may run, on machines whose nodes are not all alike: the atoms of each leg, as bits."""

import dataclasses

import numpy as np

from forebay.engine.program import Program
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


def atoms_of(platform: Platform) -> np.ndarray:
    """First node and resource of each atom; none where nodes are alike. See algorithms.atoms."""
    if platform.kinds is None:
        return np.zeros((0, 2), np.int64)
    return np.array([(0, -1), (platform.nodes - platform.capacities[-1], len(platform.resources) - 1)], np.int64)


def restrict(program: Program, workload: Workload, platform: Platform) -> Program:
    """The program with what the machine's classes and partitions allow its legs."""
    atoms = atoms_of(platform)
    if not len(atoms):
        return program
    allowed = np.where(program.demand[:, -1] > 0, 0b10, 0b11)
    return dataclasses.replace(program, allowed=allowed)
