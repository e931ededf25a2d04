"""Kernels that only kernels call, compiled once for each way into compiled code.

Numba makes a library of every function: it links in all that the function calls, optimises all of that and emits
machine code for it, again at every level up. Of 203 s for everything, 145 went there; one small heap kernel was emitted
ten times. Here a kernel that only kernels call stops after lowering. An *entry*, which Python calls, links all inner
kernels below it once, optimises once, emits once, and is what the cache keeps.

A large kernel that many entries would take in stands *apart*: it is compiled once, and they call it by its symbol.

Nothing of Numba is patched: a pass of its own takes the place of Numba's lowering, a dispatcher that of Numba's.
"""

from functools import cached_property, update_wrapper
from typing import Any

from numba import njit, types
from numba.core import compiler, typed_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typeinfer import register_dispatcher
from numba.core.typing.templates import Signature

from forebay._numba import apart
from forebay._numba.apart import Place
from forebay._numba.facts import Facts
from forebay._numba.known import Known
from forebay._numba.passes import passes_for
from forebay._numba.pointer import PointerType
from forebay._numba.store import Fault, Shelf, Store, store_for

_APART = 10**9
"""In place of a number that Numba counts up from 1 in each process."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Remembers the inner libraries below it, callers first: LLVM links only what is called for already.

    What stands apart is not linked: `apart` has its places in the store, for those who read this code.
    """

    def __init__(self, codegen: Any, name: str):
        super().__init__(codegen, name)
        self.below: dict[Any, None] = {}
        self.apart: dict[Place, None] = {}

    def add_linking_library(self, library: Any) -> None:
        if library in apart.places:
            self.apart[apart.places[library]] = None
            return
        if not isinstance(library, _InnerLibrary):
            super().add_linking_library(library)
            return
        self.apart |= library.apart
        for inner in (library, *library.below):
            # The last place counts: whoever calls it has then been linked.
            self.below.pop(inner, None)
            self.below[inner] = None
        for outside in library._linking_libraries:
            super().add_linking_library(outside)

    def link_below(self, module: Any) -> None:
        """Bring all inner kernels into a module."""
        for library in self.below:
            module.link_in(library.own_module(), preserve=True)


class _EntryLibrary(_Library):
    def finalize(self) -> None:
        self.link_below(self._final_module)
        super().finalize()


class _ApartLibrary(_EntryLibrary):
    def _get_module_for_linking(self) -> Any:
        """What a plain `njit` function links that calls it: nothing."""
        return apart.stand_in(self._codegen)


class _InnerLibrary(_Library):
    """One kernel as it was lowered: neither optimised nor emitted, and never looked up by address."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # Passes over single functions here made runs 5 % slower than leaving everything to the entry's.
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def own_module(self) -> Any:
        """This kernel alone, to be linked where all below it is linked too."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """What Numba asks for when a plain `njit` function, as users write them, calls this kernel: all of it."""
        module = self.own_module().clone()
        self.link_below(module)
        if self.apart:
            module.link_in(apart.stand_in(self._codegen))
        return module


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    _name = "forebay_entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _ApartLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    _name = "forebay_apart_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _ApartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.func_id.unique_id = _APART  # a symbol that is the same in every process
        super().run_pass(state)
        lowered = state["cr"]
        key = apart.offer(state.library, lowered.fndesc, lowered.env)
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    _name = "forebay_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        key = object()  # in place of an address: by it callers find the function
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


class _EntryCompiler(compiler.CompilerBase):  # type: ignore[misc]
    lowering: Any = _EntryLowering

    def define_pipelines(self) -> list[Any]:
        return [passes_for(self.state, self.lowering)]


class _InnerCompiler(_EntryCompiler):
    lowering = _InnerLowering


class _ApartCompiler(_EntryCompiler):
    lowering = _ApartLowering


def _holds_arrays(kind: Any) -> bool:
    """Whether a value of this type has owners to be counted: its caller would count one that was never added."""
    return isinstance(kind, types.Array) or (isinstance(kind, types.BaseTuple) and any(map(_holds_arrays, kind.types)))


def _as_known(given: Any, handed: Any) -> Any:
    """What is known of tables goes on to whom they are handed."""
    if isinstance(given, PointerType) and isinstance(handed, PointerType) and handed.tables == given.tables:
        return handed
    return handed if isinstance(handed, Known) and isinstance(given, types.Array) else given


def _narrowed(kind: Any, facts: Facts) -> Any:
    """A type of which so much is known."""
    if not facts:
        return kind
    return PointerType(kind.tables, facts) if isinstance(kind, PointerType) else Known(kind, facts)


class _Inner(CPUDispatcher):  # type: ignore[misc]
    """What Numba sees of a kernel, where other kernels call it."""

    compiler: Any = _InnerCompiler

    def __init__(self, function: Any, signature: Any, options: dict[str, Any]):
        super().__init__(function, targetoptions={"nopython": True, **options}, pipeline_class=self.compiler)
        self._options, self._signature = options, signature

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """With a signature, whatever it is called with becomes these types: it is compiled once."""
        if self._signature is None:
            return super().get_call_template(args, kws)
        given = self._signature.args if isinstance(self._signature, Signature) else self._signature
        if len(args) == len(given):
            given = tuple(map(_as_known, given, args))
        template, signature, _, _ = super().get_call_template(given, {})
        return template, signature, args, kws

    def add_overload(self, result: Any) -> None:
        """What was compiled for kernels is nothing that Python could call."""
        if self._options.get("_nrt") is False and _holds_arrays(result.signature.return_type):
            raise TypeError(f"{self.py_func.__qualname__} returns an array: make it an allocating_kernel")
        self.overloads[tuple(result.signature.args)] = result


class _Apart(_Inner):
    """The same of a kernel that is compiled for itself: those that call it do not take it in."""

    compiler = _ApartCompiler

    def __init__(self, function: Any, signature: Any, options: dict[str, Any]):
        super().__init__(function, signature, options)
        self._cache = Shelf(function.__module__, function.__qualname__)

    def compile(self, signature: Any) -> Any:
        """Also where it is interrupted, others need not wait any longer."""
        try:
            return super().compile(signature)
        finally:
            self._cache.leave()


class Kernel:
    """A compiled function: kernels that call it take it in; Python calls its entry, compiled when first asked for.

    Numba's part is made when Numba asks for it: a run that finds its entries in the cache imports 200 kernels, and with
    a dispatcher each that took 40 ms.
    """

    def __init__(self, function: Any, signature: Any, options: dict[str, Any]):
        update_wrapper(self, function)
        self.py_func, self._signature, self._options = function, signature, options
        self._variants: dict[tuple[Facts, ...], Kernel] = {}

    def variant(self, facts: tuple[Facts, ...]) -> "Kernel":
        """The same kernel where so much is known of its first arguments: others call it, or Python its entry."""
        while facts and not facts[-1]:
            facts = facts[:-1]
        if not facts:
            return self
        if facts not in self._variants:
            args = self._signature.args
            args = (*map(_narrowed, args, facts), *args[len(facts) :])
            signature = Signature(self._signature.return_type, args, recvr=None)
            self._variants[facts] = Variant(self.py_func, signature, self._options, self._signature)
        return self._variants[facts]

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.entry(*args, **named)

    called: Any = _Inner

    @cached_property
    def _inner(self) -> _Inner:
        made: _Inner = self.called(self.py_func, self._signature, self._options)
        return made

    @property
    def _numba_type_(self) -> Any:
        """By this name Numba asks any object for its type."""
        return self._inner._numba_type_

    @cached_property
    def entry(self) -> Any:
        """What Python calls. The cache keeps it, so that with a signature it is ready at once in later processes."""
        entry = self._dispatcher()
        store = store_for(self.py_func)
        if store is not None:
            entry._cache = store
        if self._signature is not None:
            with register_dispatcher(entry), self._turn(store):
                entry.compile(self._signature)
            entry.disable_compile()
        return entry

    def _turn(self, store: Store | None) -> apart.Turn:
        """Where it must be compiled: no other process compiles the same meanwhile."""
        target = cpu_target.target_context
        busy = store is not None and store.fault(self._signature, target) is Fault.MISSING
        return apart.Turn(store.lock(self._signature, target) if store and busy else None)

    def _dispatcher(self) -> Any:
        return njit(pipeline_class=_EntryCompiler, **self._options)(self.py_func)

    @property
    def fault(self) -> Fault | None:
        """Why the entry must be compiled; None if it is there, or can be read from the disk."""
        if "entry" in self.__dict__ or self._signature is None:
            return None
        store = store_for(self.py_func)
        return Fault.MISSING if store is None else store.fault(self._signature, cpu_target.target_context)


class ApartKernel(Kernel):
    """A kernel that is compiled for itself, and called by address: large ones that many ways into compiled code share.

    It has a signature, or it would be compiled for each mix of literals.
    """

    called = _Apart


class Variant(Kernel):
    """A kernel that is compiled for what is known of its arguments, and taken for the one that knows nothing."""

    def __init__(self, function: Any, signature: Any, options: dict[str, Any], general: Any):
        super().__init__(function, signature, options)
        self._general = general

    def _dispatcher(self) -> Any:
        options = {"nopython": True, **self._options}
        return _Entry(self.py_func, options, self._general)


class _Entry(CPUDispatcher):  # type: ignore[misc]
    """Where a function of the general signature is asked for, this one is handed over: its arguments are laid out
    alike. The caller has made sure that they are what it knows of them."""

    def __init__(self, function: Any, options: dict[str, Any], general: Any):
        super().__init__(function, targetoptions=options, pipeline_class=_EntryCompiler)
        self._general = general

    @property
    def _numba_type_(self) -> Any:
        return types.FunctionType(self._general)

    def get_compile_result(self, sig: Any) -> Any:
        """There is one."""
        (result,) = self.overloads.values()
        return result
