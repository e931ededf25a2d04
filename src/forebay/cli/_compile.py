"""The one-time wait for the compiler, announced: what a policy needs is imported here, before a run's clock starts."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from forebay.cli._print import message

ENGINE = {"forebay.engine.loop": "run_compiled", "forebay.policies._backfill": "backfill"}
"""Modules that compile when they are imported, and the function of each that is cached last: compiled policies."""
STEPPED = {"forebay.engine.stepped": "step"}
"""The same for policies in plain Python."""


def is_cached(module: str, function: str) -> bool:
    """Whether `function` was compiled before, by this version of the sources; there is then nothing to wait for."""
    import numba

    from forebay._jit import cache_folder

    name = f"{module.rpartition('.')[2]}.{function}"
    return bool(numba.config.DISABLE_JIT) or any(cache_folder().glob(f"*/{name}-*.nbi"))


def prepare(policies: Iterable[Any], stepped: bool = False) -> None:
    """Have everything compiled that these policies run on; `stepped` if they are watched decision by decision."""
    needed = dict(STEPPED) if stepped else {}
    for policy in policies:
        needed |= ENGINE if _is_compiled(policy) else STEPPED
    with notice(needed):
        for module in needed:
            import_module(module)


def _is_compiled(policy: Any) -> bool:
    from forebay.policies import Policy

    return getattr(type(policy), "kernel", Policy.kernel) is not Policy.kernel


@contextmanager
def notice(needed: dict[str, str]) -> Iterator[None]:
    """Say that compiling takes a while, if it will, and how long it took."""
    if all(is_cached(module, function) for module, function in needed.items()):
        yield
        return
    message("Compiling the engine, once (about half a minute) ...")
    begun = time.perf_counter()
    yield
    message(f"compiled in {time.perf_counter() - begun:.1f} s")
