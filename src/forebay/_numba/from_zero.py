"""Places in arrays that count from the front, without a look whether they count from the end.

Numba takes a place below 0 for one from the end, as Python does. Of a loop's own counter the compiler sees that it
never is; of a place that was read from a table, as most are in kernels, it asks each time: five instructions beside
three, and no loop is made wide. A module whose kernels never count from the end says so with `FROM_ZERO = True`. Its
places are then taken for unsigned: one below 0 is out of bounds, which the tests with bounds checks find.
"""

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typing.templates import signature


def _unsigned(kind: Any) -> Any:
    """The type of a place, or of places in a tuple, that is never below 0."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_unsigned(one) for one in kind])
    return types.uint64 if types.unliteral(kind) == types.int64 else kind


def _looks_up(step: Any) -> Any:
    """What reads or writes at a place that is not known yet; None if the step does not."""
    if isinstance(step, ir.SetItem):
        return step
    reads = isinstance(step, ir.Assign) and isinstance(step.value, ir.Expr) and step.value.op == "getitem"
    return step.value if reads else None


@register_pass(mutates_CFG=False, analysis_only=False)
class FromZero(FunctionPass):  # type: ignore[misc]
    """Between typing and lowering: the types of places where arrays are looked up."""

    _name = "forebay_from_zero"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change the signatures of look-ups; the variables stay as they are, and are cast at no cost."""
        if not state.func_id.func.__globals__.get("FROM_ZERO"):
            return False
        for block in state.func_ir.blocks.values():
            for step in block.body:
                known = state.calltypes.get(_looks_up(step))
                if known is not None and isinstance(known.args[0], types.Array):
                    array, place, *value = known.args
                    del state.calltypes[_looks_up(step)]  # which takes each key once
                    state.calltypes[_looks_up(step)] = signature(known.return_type, array, _unsigned(place), *value)
        return True
