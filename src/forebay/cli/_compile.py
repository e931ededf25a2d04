"""The one-time wait for the compiler, announced: what policies need is compiled here, before a run's clock starts."""

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
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
    """Compile in two processes. Policies whose kernels share others are neighbours by name, and go to the same one.

    A kernel that two parts take in is typed and lowered once in a process. With a process for each part, warming up
    took 169 s; this way it takes 97. So one process begins with the engine and goes on from the end of the list, the
    other from its beginning.
    """
    waiting = deque(sorted(parts, key=lambda part: (part[0].startswith("forebay.algorithms"), part)))
    if LOOP in waiting:
        waiting.remove(LOOP)
        waiting.append(LOOP)
    workers = [_Worker() for _ in range(min(2, len(waiting)))]
    try:
        with ThreadPoolExecutor(2) as threads:
            takes = (waiting.pop, waiting.popleft)
            for done in [threads.submit(worker.work, take) for worker, take in zip(workers, takes, strict=False)]:
                done.result()
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that compiles what it is sent, one part after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from forebay.cli._compile import follow; follow()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def work(self, take: Callable[[], Part]) -> None:
        """Compile until nothing is left to take."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        while True:
            try:
                part = take()
            except IndexError:
                return
            print(*part, file=self._process.stdin, flush=True)
            if not self._process.stdout.readline():
                _, errors = self._process.communicate()
                raise ForebayError(f"{'.'.join(part)} could not be compiled:\n{errors.rstrip()}")

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()


def follow() -> None:
    """What a worker does: compile the parts that it reads, a line each, and say so."""
    for line in sys.stdin:
        module, function = line.split()
        load([(module, function)])
        print("done", flush=True)


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
