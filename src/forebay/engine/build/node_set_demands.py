"""Nodes that are not all alike, in the tables of a run: their atoms, and where each leg may run."""

import dataclasses

import numpy as np

from forebay.engine.build.program import Program, needs_large
from forebay.platforms.platform import Platform


def atoms_of(platform: Platform) -> np.ndarray:
    """First node and resource of each atom; none where nodes are alike, or shared. See algorithms.nodes.atoms."""
    atoms = platform.atoms
    if len(atoms) == 1 or platform.sharing:
        return np.zeros((0, 2), np.int64)
    column = len(platform.resources) - len(atoms)
    # Of two kinds only the larger is counted: nobody has to have the smaller.
    columns = range(column, column + len(atoms)) if platform.divided else (-1, column + 1)
    return np.array([(atom.first, own) for atom, own in zip(atoms, columns, strict=True)], np.int64)


def restrict(program: Program, platform: Platform, allowed: np.ndarray) -> Program:
    """The program with atoms of nodes that its legs may run on; `allowed` has those of each job, as bits.

    A leg that may have nodes of one atom only asks for these by name, so that every policy counts them as it does any
    other resource.
    """
    atoms = atoms_of(platform)
    if not len(atoms):
        return program
    mine, demand, nodes = allowed[program.leg_job] & (2 ** len(atoms) - 1), program.demand.copy(), program.demand[:, 0]
    if platform.kinds is not None:
        large = sum(1 << a for a, atom in enumerate(platform.atoms) if atom.first >= platform.first_large)
        mine = np.where(needs_large(nodes, list(program.demand.T), platform), mine & large, mine)
    for a, (_, column) in enumerate(atoms):
        if column >= 0:
            demand[:, column] = np.where(mine == 1 << a, nodes, 0)
    return dataclasses.replace(program, demand=demand, allowed=mine)
