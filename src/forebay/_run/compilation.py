"""The one-time wait for the compiler, announced: what policies need is compiled here, before a run's clock starts."""

import gc
import math
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

from forebay._run.block_parts import BLOCKS, KERNELS, Part
from forebay._support.parent_process import end_with
from forebay._support.text import plain
from forebay.errors import ForebayError

LOOP: Part = ("forebay.engine.loop", "run_compiled")
BRIDGE: Part = ("forebay.engine.loop", "call_python")
_SETFORMAT = "forebay.algorithms.nodes.setformat"
_TEXT: tuple[Part, ...] = tuple((_SETFORMAT, name) for name in ("group_intervals", "write_sets"))
_SHORT = (BRIDGE, *_TEXT)  # compiled in a second or less
WAITING: Part = ("forebay.algorithms.waiting", "causes")  # explanations of waits enter here
_here: set[Part] = set()
"""What is ready in this process."""


def prepare(policies: Iterable[Any], quiet: bool = False, used: Iterable[str] | None = None) -> None:
    """Have all that these policies run on ready. Where it must be compiled first, say so, and how long it will take.

    Runs that use these capabilities alone, of all that there are, need less.
    """
    every = list(policies)
    prepare_parts(needed(every) if used is None else narrowed(every, used), quiet)


def prepare_block(part: Part, state: Any) -> None:
    """The same of a kernel that policies in plain Python build on, for a run with these tables."""
    from forebay.engine.variants import uses_of_state

    prepare_parts([_narrowest(part, [], uses_of_state(state))])


def all_stored(policies: Iterable[Any]) -> bool:
    """Whether nothing has to be compiled, whatever runs of these policies use."""
    return not any(part not in _here and _fault_of(part) for part in needed(policies))


def narrowed(policies: list[Any], used: Iterable[str]) -> list[Part]:
    """What runs of these policies enter that use these capabilities."""
    capabilities = frozenset(used)
    return [_narrowest(part, policies, capabilities) for part in needed(policies)]


_narrow: dict[Any, Part] = {}
"""What was chosen in this process."""


def _narrowest(part: Part, policies: list[Any], used: frozenset[str]) -> Part:
    """Of the variants of a part that such runs can enter, the smallest that is stored; if none is, the smallest."""
    from forebay.core.shapes import ANY, shapes_of
    from forebay.engine.variants import ways_in
    from forebay.policies._limited import apart

    if part != LOOP and not part[0].startswith(KERNELS):
        return part
    mine = [one for one, _ in map(apart, policies) if part == _part_of(one)]
    shapes = shapes_of(mine, [one.params() for one in mine]) if mine else [ANY]
    known = tuple((*part, variant, *filter(None, [shape.text])) for variant, shape in ways_in(used, shapes))
    if known not in _narrow:
        _narrow[known] = next((one for one in known if one in _here or not _fault_of(one)), known[0])
    return _narrow[known]


def _part_of(policy: Any) -> Part | None:
    """The kernel of a policy of ours."""
    compiled = getattr(policy, "compiled", "")
    if not compiled:
        return None
    file, _, function = compiled.rpartition(".")
    return f"{KERNELS}{file}", function


def prepare_parts(wanted: Iterable[Part], quiet: bool = False) -> None:
    """The same for any ways into compiled code."""
    from forebay._numba.folder import cache_folder, keeps

    parts = [part for part in wanted if part not in _here]
    faults = {part: fault for part in parts if (fault := _fault_of(part))}
    missing = list(faults)
    if missing:
        if not quiet:
            for note in _notes(faults):
                _write(f"{note}\n")
        line = None if quiet else Countdown(missing)
        # Another process can hand over what it compiles only where that can be kept.
        kept = [part for part in missing if faults[part] != "unsafe"] if keeps(cache_folder()) else []
        if kept:
            compile_parts(kept, line)
        load(missing)
        if line:
            line.end()
    load(parts)
    _here.update(parts)


def needed(policies: Iterable[Any]) -> list[Part]:
    """What runs of these policies enter. A kernel of a user's is compiled where it is called: it stands in no module
    that another process could find."""
    from forebay.policies import Policy
    from forebay.policies._limited import apart

    found = dict.fromkeys((LOOP, *_TEXT))
    for policy, _ in map(apart, policies):
        part = _part_of(policy)
        if part:
            found[part] = None
        elif getattr(type(policy), "kernel", Policy.kernel) is Policy.kernel:
            found[BRIDGE] = None
            named = set(getattr(policy, "blocks", ())) or _named(policy) & BLOCKS.keys()
            found |= {BLOCKS[name]: None for name in sorted(named)}
    return list(found)


def _named(policy: Any) -> set[str]:
    """The methods and attributes that the code of a policy's class names. What it reaches by other ways is compiled
    where it is first called, on the run's own time."""
    codes = [getattr(one, "__code__", None) for cls in type(policy).__mro__ for one in vars(cls).values()]
    found: set[str] = set()
    while codes:
        code = codes.pop()
        if isinstance(code, CodeType):
            found |= set(code.co_names)
            codes += code.co_consts  # functions within functions, and the names of arguments
        elif isinstance(code, tuple):
            found |= {name for name in code if isinstance(name, str)}
    return found


class Countdown:
    """A line on stderr that counts down, where someone watches; else one line before and one after.

    It begins when it is made.
    """

    def __init__(self, parts: Iterable[Part]):
        self._left = {part: _seconds(part) for part in parts}
        self._usual = _usual(list(self._left.values()))
        self._pace = pace()
        self._begun = time.perf_counter()
        # Notebooks take a line back as terminals do.
        self._watched = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        if self._watched:
            self.tick()
        else:
            _write(f"Compiling, once: about {self._estimate():.0f} s ...\n")

    def tick(self) -> None:
        """Every now and then."""
        if self._watched:
            left = self._estimate() - (time.perf_counter() - self._begun)
            when = f"about {left:.0f} s left" if left >= 1 else "longer than usual"
            _write(f"\rCompiling, once: {len(self._left)} to go, {when} ... ")

    def done(self, part: Part) -> None:
        """A part is compiled."""
        self._left.pop(part, None)

    def end(self) -> None:
        """Everything is."""
        took = time.perf_counter() - self._begun
        back = f"\r{' ' * 60}\r" if self._watched else ""
        _write(f"{back}compiled in {took:.1f} s\n")
        if self._usual >= _TELLING:
            keep_pace(took / self._usual)

    def _estimate(self) -> float:
        return self._usual * self._pace


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _notes(faults: dict[Part, str]) -> list[str]:
    """What to say of compiled code that is there and not used."""
    from forebay._numba.folder import cache_folder, keeps, unsafe_folder

    folder = unsafe_folder()
    if folder is not None:
        what = "is another user's, or others can write to it"
        return [f"note: {plain(str(folder))} {what}: compiled code in it is not run, and none is kept there"]
    found, here = [], plain(str(cache_folder()))
    if not keeps(cache_folder()):
        found.append(
            "note: there is no folder that compiled code can be kept in: it is for this run alone"
            if cache_folder() is None
            else f"note: {here} cannot be written to: what is compiled now is for this run alone"
        )
    for fault, what, where in (
        ("damaged", "damaged, and compiled again", here),
        (
            "unsafe",
            "another user's or can be written to by others: it is not run, and compiled for this run alone",
            here,
        ),
        ("packaged", "damaged, or others can write to it: it is not run, and compiled again", "the package"),
    ):
        names = [f"{part[0]}.{part[1]}" for part, its in faults.items() if its == fault]
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            found.append(f"note: compiled code of {names[0]}{more} in {where} is {what}")
    return found


_USUAL = {LOOP[0]: 35.0, WAITING[0]: 10.0, f"{KERNELS}backfill.backfill": 29.0, f"{KERNELS}window": 28.0}
"""Seconds that a part of a module takes by itself on two cores of 2026; others take as long as plans."""
_PLAN = 20.0
_SHARE = {"full": 1.0, "rigid": 0.35}
"""Of that, what the smallest variant takes; those between take more."""
_TELLING = 10.0
"""Seconds that must be expected for the time to tell how fast a machine is: less goes into starting processes."""
_BESIDE = 1.75
"""How many times as long parts take where several processes compile at once: they share caches, and more."""
_PACE = "pace"
_FASTEST = 0.4
"""The least that is believed: who waited for what another process had nearly compiled took less, and tells nothing."""


def _seconds(part: Part) -> float:
    """About how long it takes to compile: for the count-down alone."""
    share = _SHARE.get(part[2], 0.6) if len(part) > 2 else 1.0
    return 1.0 if part[:2] in _SHORT else share * _USUAL.get(part[0], _PLAN)


def _usual(parts: list[float]) -> float:
    """How long parts take together, on all cores."""
    workers = min(_n_workers(), sum(one > 1 for one in parts))
    return max(sum(parts) / max(workers, 1), *parts) * (_BESIDE if workers > 1 else 1.0)


def pace() -> float:
    """How many times as long as usual the compiler took here before; 1 where that is not known."""
    from forebay._numba.folder import cache_folder

    folder = cache_folder()
    try:
        known = float((folder.parent / _PACE).read_text(encoding="utf-8")) if folder else 1.0
    except (OSError, ValueError):
        return 1.0
    return 1.0 if math.isnan(known) else min(max(known, _FASTEST), 10.0)


def keep_pace(times: float) -> None:
    """Remember it for the next time. A machine that was busy once does not count for all: half of it is kept."""
    from forebay._numba.folder import cache_folder
    from forebay._support.files import replacing

    folder = cache_folder()
    if folder:  # of one version; how fast a machine is, it is for all
        path = folder.parent / _PACE
        kept = math.sqrt(pace() * times) if path.is_file() else times
        with suppress(OSError, ForebayError), replacing(path) as [temporary]:
            temporary.write_text(f"{kept:.3g}\n", encoding="utf-8")


def _n_workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _late(part: Part) -> tuple[bool, bool, Part]:
    """Plans take least of the kernels that stand apart, and so wait least for the process that compiles these. Those
    by predicted run times take in the same as others."""
    plans = f"{KERNELS}plan.", f"{KERNELS}predicted"
    return part[0].startswith("forebay.algorithms"), part[0].startswith(plans), part


def compile_parts(parts: list[Part], line: Countdown | None = None) -> None:
    """Compile on all cores. A kernel that two parts take in is typed and lowered once in a process, and policies that
    share kernels are neighbours by name: one process begins with the engine, then takes the last, the others the first.
    """
    waiting = deque(sorted(parts, key=_late))
    for loop in [part for part in waiting if part[:2] == LOOP]:
        waiting.remove(loop)
        waiting.append(loop)
    workers = [_Worker() for _ in range(min(_n_workers(), len(waiting)))]
    takes: list[Callable[[], Part]] = [waiting.pop, *[waiting.popleft] * len(workers)]
    with ThreadPoolExecutor(len(workers)) as threads:
        at_work = {threads.submit(worker.work, take, line) for worker, take in zip(workers, takes, strict=False)}
        try:
            _wait(at_work, line)
        finally:
            for worker in workers:
                worker.stop()


def _wait(at_work: set[Future[None]], line: Countdown | None) -> None:
    while at_work:
        done, at_work = wait(at_work, timeout=1.0, return_when=FIRST_EXCEPTION)
        for one in done:
            one.result()
        if line:
            line.tick()


class _Worker:
    """A process that compiles what it is sent, one part after the other."""

    # -P: what lies in the current folder is not ours to import. Where we were found by other ways, so are we there.
    CODE = (
        "import sys; sys.path.append(sys.argv[1]); "
        "from forebay._run.compilation import follow; follow(int(sys.argv[2]))"
    )

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", self.CODE, str(Path(__file__).parents[2]), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def work(self, take: Callable[[], Part], line: Countdown | None) -> None:
        """Compile until nothing is left to take."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        while True:
            try:
                part = take()
            except IndexError:
                return
            self._process.stdin.write(" ".join(part) + "\n")
            self._process.stdin.flush()
            if not self._process.stdout.readline():
                _, errors = self._process.communicate()
                raise ForebayError(f"{'.'.join(part)} could not be compiled:\n{errors.rstrip()}")
            if line:
                line.done(part)

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()


def follow(parent: int) -> None:
    """What a worker does: compile the parts that it reads, a line each, and say so."""
    end_with(parent)
    gc.freeze()
    gc.disable()  # it took a quarter of the time: what a compiler makes lives until its part is done
    for line in sys.stdin:
        load([tuple(line.split())])
        gc.collect()
        sys.stdout.write("done\n")
        sys.stdout.flush()


def load(parts: Iterable[Part]) -> None:
    """Have parts ready in this process, from the disk if they are there."""
    from forebay._numba.jit import ready

    for part in parts:
        ready(kernel_of(part), *_facts(part))


def _fault_of(part: Part) -> str:
    from forebay._numba.jit import fault_of

    return fault_of(kernel_of(part), *_facts(part))


def _facts(part: Part) -> tuple[Any, ...]:
    """What it knows of its first arguments."""
    from forebay.core.shapes import shape_of
    from forebay.engine.variants import facts_of

    if len(part) == 2:
        return ()
    state, truth = facts_of(part[2])
    return (state, truth) if part[:2] == LOOP else (state, *(shape_of(text).facts for text in part[3:]))


def kernel_of(part: Part) -> Any:
    """The kernel that a part names."""
    module, function = part[:2]
    return getattr(import_module(module), function)
