"""Nodes of a run as its ids count them: by themselves, or by their cores where jobs share nodes."""

from collections.abc import Mapping

import numpy as np

from forebay.results._result import Result


def first_ids(result: Result) -> np.ndarray | None:
    """The first id of each node, and behind the last one, where ids count cores; None where they count nodes.

    Examples
    --------
    >>> fb.results.first_ids(fb.simulate("table1")) is None
    True
    """
    facts = result.facts.get("platform")
    classes = facts.get("classes", []) if isinstance(facts, Mapping) and result.unit != "nodes" else []
    if not classes:
        return None
    cores = np.repeat([one["cores"] for one in classes], [one["nodes"] for one in classes])
    return np.concatenate([[0], np.cumsum(cores)])


def n_ids(result: Result, nodes: np.ndarray) -> np.ndarray:
    """How many ids each of some nodes has.

    Parameters
    ----------
    nodes
        The nodes, counted from 0.

    Examples
    --------
    >>> fb.results.n_ids(fb.simulate("table1"), [0, 3])
    array([1, 1])
    """
    first = first_ids(result)
    return np.ones(len(nodes), np.int64) if first is None else np.diff(first)[nodes]
