"""The steps that a kernel goes through, from its bytecode to LLVM's: Numba's, without what our kernels have no use for.

Around each step Numba takes times, raises events, and works out again how long each variable lives. That last is needed
once, before lowering, where a step of its own does it.
"""

from types import CodeType
from typing import Any

from numba.core import compiler, typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager

from forebay._numba.folder import is_ours
from forebay._numba.from_zero import FromZero
from forebay._numba.narrow import Narrow

_LEFT_OUT = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.InlineInlinables,
    untyped_passes.LiteralUnroll,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.DumpParforDiagnostics,
    typed_passes.AnnotateTypes,
}
"""What serves `with` blocks, closures, functions that Numba is to inline, unrolled tuples, expressions of whole
arrays, and listings. A kernel of ours has none of these, but for closures: those that have any go all the way."""

_kept: dict[tuple[Any, bool], PassManager] = {}


class _Quick(PassManager):  # type: ignore[misc]
    """Runs steps, and does nothing else."""

    def _runPass(self, index: int, pss: Any, internal_state: Any) -> None:  # noqa: N802
        pss.analysis = self._analysis
        pss.run_initialization(internal_state)
        pss.run_pass(internal_state)
        pss.run_finalizer(internal_state)


def passes_for(state: Any, lowering: Any) -> PassManager:
    """All steps for a function, with ours in place of Numba's lowering."""
    function = state.func_id.func
    plain = is_ours(function) and not any(isinstance(one, CodeType) for one in function.__code__.co_consts)
    if (lowering, plain) not in _kept:
        made = (_Quick if plain else PassManager)("forebay")
        for step, text in compiler.DefaultPassBuilder.define_nopython_pipeline(state).passes:
            if plain and step in _LEFT_OUT:
                continue
            made.add_pass(lowering if step is typed_passes.NativeLowering else step, text)
            if step is untyped_passes.IRProcessing:
                made.add_pass(Narrow, "take out what cannot happen")
            if step is typed_passes.NopythonTypeInference:
                made.add_pass(FromZero, "count places from the front")
        made.finalize()
        _kept[lowering, plain] = made
    return _kept[lowering, plain]
