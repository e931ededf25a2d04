"""An entry as the cache keeps it: machine code, without what only a compiler would read.

Numba keeps bitcode beside it for those who link the function, and for every function within a module's globals, which
it imports. Nobody links an entry: kernels take in inner kernels, and a policy is called by its address. Without either,
reading the engine and a policy takes a fifth of the time.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary, JitEngine
from numba.core.compiler import CompileResult, compile_result

from forebay._numba import apart

# A Numba that lacks one of these fails here, on import, and `jit` goes on without this module.
_NEEDED = (
    CompileResult._find_referenced_environments,
    JITCodeLibrary._get_compiled_object,
    JITCodeLibrary._set_compiled_object,
    JITCodeLibrary._finalize_final_module,
    JitEngine._load_defined_symbols,
)


class _Finished(JITCodeLibrary):  # type: ignore[misc]
    """A library of machine code alone. Numba refuses to link it: it has no functions to offer.

    One that stands apart is not linked, but called: also by the plain functions of users.
    """

    def __init__(self, codegen: Any, name: str, code: bytes, symbols: set[str], is_apart: bool):
        super().__init__(codegen, name)
        if is_apart:
            self._shared_module = apart.stand_in(codegen)
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()
        codegen._engine._defined_symbols |= symbols


def parts_of(result: CompileResult) -> tuple[Any, ...]:
    """All of a compiled entry that `assembled` needs."""
    library, described = result.library, result.fndesc
    described.typemap = described.calltypes = None  # for compilers only, and they cannot be pickled
    names = (described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name)
    symbols = {name for name in names if library.codegen._engine.is_symbol_defined(name)}
    code = library._get_compiled_object()
    environments = _read_environments(result)
    return library.name, code, symbols, described, result.environment, result.signature, environments


def assembled(target: Any, is_apart: bool, *parts: Any) -> CompileResult:
    """A compiled entry, ready to be called; or a kernel that stands apart, for others to call."""
    name, code, symbols, described, own, signature, environments = parts
    library = _Finished(target.codegen(), name, code, symbols, is_apart)
    offer = apart.offer if is_apart else target.get_executable
    entry_point = offer(library, described, own)
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    return compile_result(
        typing_context=target.typing_context,
        target_context=target,
        entry_point=entry_point,
        signature=signature,
        objectmode=False,
        lifted=(),
        fndesc=described,
        library=library,
        environment=own,
        reload_init=(),
        referenced_envs=environments,
    )


def _read_environments(result: CompileResult) -> tuple[Any, ...]:
    """The environments that the code reads, to make Python objects. Of the others it has the names alone."""
    text = str(result.library._final_module)
    return tuple(one for one in result._find_referenced_environments() if text.count(one.env_name) > 1)
