"""Ways into compiled code: each run enters the smallest variant that fits its tables, of those compiled before if any.

What a variant knows of tables stands in the type of the pointers to them, and a pointer is only made to tables of which
that holds: see `_numba.pointer`.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from forebay._numba.facts import Facts
from forebay._numba.jit import fault_of, has_variants, ready
from forebay._numba.pointer import PointerType, pointer
from forebay.core.shapes import Shape, shapes_of
from forebay.core.tables import STATE, State
from forebay.engine.truth import TRUTH, Truth
from forebay.engine.variants import covering, facts_of, uses, uses_of_state, ways_in

_chosen: dict[Any, tuple[Facts, ...]] = {}
"""What runs have entered in this process: what is looked up on the disk once need not be again."""


def choose(kernel: Any, candidates: Iterable[tuple[Facts, ...]]) -> tuple[Facts, ...]:
    """Of what may be known of the arguments of a kernel, the most for which it is stored; the most if for none."""
    wanted = tuple(candidates)
    if not has_variants(kernel):
        return wanted[-1]
    key = kernel, wanted
    if key not in _chosen:
        _chosen[key] = next((facts for facts in wanted if not fault_of(kernel, *facts)), wanted[0])
    return _chosen[key]


def loop_for(state: State, truth: Truth) -> tuple[Any, tuple[Any, Any]]:
    """The loop for a run, and its tables as it takes them."""
    from forebay.engine.loop import run_compiled

    facts = choose(run_compiled, map(facts_of, covering(uses(state, truth))))
    tables = _known(state, STATE, facts[0]), _known(truth, TRUTH, facts[1])  # first: a wrong fact compiles nothing
    return ready(run_compiled, *facts), tables


def policy_for(policy: Any, kernel: Any, state: State, params: np.ndarray) -> tuple[Any, Any]:
    """The kernel of a policy for a run, and the tables as it takes them. One of a user's takes those of any run."""
    facts = choose(kernel, _known_of(ways_in(uses_of_state(state), shapes_of([policy], [params]))))
    known = _known(state, STATE, facts[0])
    return ready(kernel, *facts), known


def block_for(kernel: Any, state: State) -> tuple[Any, Any]:
    """The same of a kernel that policies in plain Python build on."""
    facts = choose(kernel, _known_of(ways_in(uses_of_state(state))))
    known = _known(state, STATE, facts[0])
    return ready(kernel, facts[0]), known


def _known_of(ways: Iterable[tuple[str, Shape]]) -> list[tuple[Facts, Facts]]:
    """What is known of State, and of a policy's numbers."""
    return [(facts_of(variant)[0], shape.facts) for variant, shape in ways]


def _known(tables: Any, kind: PointerType, facts: Facts) -> Any:
    key = kind, facts
    if key not in _kinds:
        _kinds[key] = PointerType(kind.tables, facts) if facts else kind
    return pointer(tables, _kinds[key])


_kinds: dict[Any, PointerType] = {}
