"""The one-time wait for the compiler, announced: what a policy needs is imported here, before a run's clock starts."""

import subprocess
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from forebay.cli._print import message

LOOP = ("forebay.engine.loop", "run_compiled")
BACKFILL = ("forebay.policies._backfill", "backfill")
PLAN = ("forebay.policies._plan", "plan")  # which imports the one before
PREDICTED = ("forebay.policies._predicted", "_backfill_predicted")  # and this the two before
CERBERUS = ("forebay.policies._cerberus", "cerberus")  # which imports backfilling
WINDOW = ("forebay.policies._window", "choose_window")  # so do these
TIERS = ("forebay.policies._tiers", "choose_tiers")
TIER_PLAN = ("forebay.policies._tier_plan", "plan_tiers")  # which imports the one before
BRIDGE = ("forebay.engine.bridge", "call_python")
"""Modules that compile when they are imported, each with the function that is cached last."""


Part = tuple[str, str]


def prepare(policies: Iterable[Any]) -> None:
    """Import all that these policies run on. If that means compiling, say so first, and afterwards how long it took."""
    missing = [part for part in _needed(policies) if not _is_cached(*part)]
    begun = time.perf_counter()
    if missing:
        long = not {PLAN, PREDICTED, WINDOW, TIERS, TIER_PLAN}.isdisjoint(missing)
        message(f"Compiling the engine, once (about {'a minute and a half' if long else 'half a minute'}) ...")
        here, beside = _chains(missing)
        code = "import " + ", ".join(module for module, _ in beside)
        process = subprocess.Popen([sys.executable, "-c", code]) if beside else None
        try:
            for module, _ in here:
                import_module(module)
            if process is not None:
                process.wait()
        finally:
            if process is not None:
                process.terminate()
                process.wait()
        for module, _ in beside:
            import_module(module)
        message(f"compiled in {time.perf_counter() - begun:.1f} s")


def _chains(missing: list[Part]) -> tuple[list[Part], list[Part]]:
    """What to compile here, and what meanwhile in another process, from whose cache it is then read.

    Windows and tiers need backfilling too. It is compiled first of all there, so that they find it in the cache when
    the engine is done here; where they are alone, they are compiled there themselves.
    """
    here = [part for part in (LOOP, BRIDGE) if part in missing]
    beside = [part for part in (BACKFILL, PLAN, PREDICTED, CERBERUS) if part in missing]
    (here if here and beside else beside).extend(part for part in missing if part in (WINDOW, TIERS, TIER_PLAN))
    return (here, beside) if here else (beside, [])


def _needed(policies: Iterable[Any]) -> list[Part]:
    from forebay.policies import Policy
    from forebay.policies._family import Backfill
    from forebay.policies._limited import apart
    from forebay.policies._planning import Planning
    from forebay.policies._predicting import Predicting
    from forebay.policies._three_queues import ThreeQueues
    from forebay.policies._tiering import Tiering
    from forebay.policies._windowed import Windowed

    needed = {LOOP: None}
    for policy, _ in map(apart, policies):
        if isinstance(policy, Predicting):
            needed[PREDICTED] = None
        elif isinstance(policy, Planning):
            needed[PLAN] = None
        elif isinstance(policy, Backfill):
            needed[BACKFILL] = None
        elif isinstance(policy, ThreeQueues):
            needed[CERBERUS] = None
        elif isinstance(policy, Tiering):
            needed[TIERS if policy.choice != "planned" else TIER_PLAN] = None
        elif isinstance(policy, Windowed):
            needed[WINDOW] = None
        elif getattr(type(policy), "kernel", Policy.kernel) is Policy.kernel:
            needed[BRIDGE] = None
    if TIER_PLAN in needed:
        needed.pop(TIERS, None)
    for part in (BACKFILL, PLAN):
        if PREDICTED in needed or (part == BACKFILL and PLAN in needed):
            needed.pop(part, None)
    return list(needed)


def _is_cached(module: str, function: str) -> bool:
    """Whether `function` was compiled before, from these sources: there is then nothing to wait for."""
    import numba

    from forebay._jit import cache_folder

    name = f"{module.rpartition('.')[2]}.{function}"
    return bool(numba.config.DISABLE_JIT) or any(cache_folder().glob(f"*/{name}-*.nbi"))
