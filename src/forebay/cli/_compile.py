"""The one-time wait for the compiler, announced: what policies need is compiled here, before a run's clock starts."""

import subprocess
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from forebay.cli._print import message
from forebay.errors import ForebayError

Part = tuple[str, str]
"""A way into compiled code: module and function. It is compiled with all kernels below it, and so by itself."""

LOOP: Part = ("forebay.engine.loop", "run_compiled")
BRIDGE: Part = ("forebay.engine.loop", "call_python")
_TEXT: tuple[Part, ...] = tuple(("forebay.algorithms.setformat", name) for name in ("group_intervals", "write_sets"))
_SHORT = (BRIDGE, *_TEXT)  # compiled in a second or less


def prepare(policies: Iterable[Any]) -> None:
    """Compile all that these policies run on. Where there is any, say so first, and afterwards how long it took."""
    parts = needed(policies)
    missing = [part for part in parts if not is_cached(part)]
    begun = time.perf_counter()
    if missing:
        long = len([part for part in missing if part not in _SHORT])
        wait = ("a few seconds", "half a minute", "half a minute", "a minute")[min(long, 3)]
        message(f"Compiling the engine, once (about {wait}) ...")
        compile_parts(missing)
    load(parts)
    if missing:
        message(f"compiled in {time.perf_counter() - begun:.1f} s")


def needed(policies: Iterable[Any]) -> list[Part]:
    """What runs of these policies enter."""
    from forebay.policies import Policy
    from forebay.policies._limited import apart

    found = dict.fromkeys((LOOP, *_TEXT))
    for policy, _ in map(apart, policies):
        compiled = getattr(policy, "compiled", "")
        if compiled:
            file, function = compiled.split(".")
            found[f"forebay.policies._kernels.{file}", function] = None
        elif getattr(type(policy), "kernel", Policy.kernel) is Policy.kernel:
            found[BRIDGE] = None
    return list(found)


def compile_parts(parts: list[Part]) -> None:
    """Compile in two processes at a time. They share no kernels, so that neither waits for the other."""
    waiting = sorted(parts, key=lambda part: part in _SHORT)
    running: dict[subprocess.Popen[str], Part] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                part = waiting.pop(0)
                running[_compiling(part)] = part
            time.sleep(0.01)
            for process in [process for process in running if process.poll() is not None]:
                part = running.pop(process)
                if process.returncode:
                    _, errors = process.communicate()
                    raise ForebayError(f"{'.'.join(part)} could not be compiled:\n{errors.rstrip()}")
    finally:
        for process in running:
            process.terminate()
            process.wait()


def _compiling(part: Part) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", f"from forebay.cli._compile import load; load([{part!r}])"],
        stderr=subprocess.PIPE,
        text=True,
    )


def load(parts: Iterable[Part]) -> None:
    """Have parts ready in this process, from the cache if they are there."""
    from forebay._numba.jit import ready

    for module, function in parts:
        ready(getattr(import_module(module), function))


def is_cached(part: Part) -> bool:
    """Whether it was compiled before, from these sources: there is then nothing to wait for."""
    import numba

    from forebay._numba.jit import cache_folder

    module, function = part
    name = f"{module.rpartition('.')[2]}.{function}"
    return bool(numba.config.DISABLE_JIT) or any(cache_folder().glob(f"*/{name}-*.nbi"))
