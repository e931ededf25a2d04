"""Runs whose every start, end and node is stored: what a change of the engine's insides must leave as it is.

A run is named by what it is made of, so that a difference tells where to look.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

import forebay
from cases import pooled, tiered, transfers
from forebay import policies
from forebay.errors import StalledError
from forebay.policies._orders import ALL

STORE = Path(__file__).with_name("hashes.csv")
DATA = os.environ.get("FOREBAY_DATA")
NEWER = (
    "fcfs-malleable", "ebf", "mebf", "sfsj", "steal", "steal-malleable", "multifactor", "fairshare", "slurm", "balance",
)  # fmt: skip
"""Policies that came after the first hashes were stored; put the next at the end."""
WITHOUT = ("plan-zheng",)
"""Policies that are others with larger numbers, and take long."""
LOG = ("job", "kind", "time", "resource", "amount")
JOBS = ("job_id", "final_state", "starting_time", "finish_time", "total_wait", "allocated_resources")
LEFT = {"plan-predict": "plan-predict:estimator=recent"}
"""How policies are called whose defaults have changed since."""
PINNED = ("fcfs-bb", "conservative-bb", "sjf-bb", "plan-2", "plan-best", "plan-predict", "sjf-predict")
KTH = "swf/KTH-SP2-1996-2.1-cln.swf.gz"
PART = "kopanski/{model}/part-3.json.gz"


class Dice:
    """In plain Python: starts what fits in random order, now and then on nodes of its own choice, or wakes, rejects."""

    def decide(self, view, act):
        idle = view.idle_nodes.tolist()
        for job in view.rng.permutation(view.queue):
            if not act.fits(job):
                continue
            draw, n = view.rng.random(), int(view.demand(job)[0])
            if draw < 0.02 and view.legs["number"][view.jobs["leg"][job]] == 0:
                act.reject(job)
                continue
            chosen = sorted(view.rng.permutation(idle)[:n].tolist()) if draw < 0.5 else idle[:n]
            act.start(job, nodes=chosen if n and draw < 0.5 else None)
            idle = [node for node in idle if node not in chosen]
        if view.rng.random() < 0.1:
            act.wake(view.now + 1.5)


def _needs_times(name: str) -> bool:
    """Whether jobs must tell how long they take, which those of these runs do not."""
    return bool(policies.load(name).needs_times)


def _tiered(name: str) -> bool:
    return bool(policies.load(name).needs_tiers)


def _spec(name: str, more: str = "") -> str:
    """The policy as it was when its hashes were stored, with further parameters."""
    spec = LEFT.get(name, name)
    return f"{spec}{',' if ':' in spec else ':'}{more}" if more else spec


def small() -> Iterator[tuple[str, Callable[[], forebay.Result]]]:
    """Random runs of a few dozen jobs."""

    def run(policy, make, made_from, **options):
        return lambda: forebay.simulate(*make(made_from), policy, **options)  # inputs are made when it is their turn

    plain = [name for name in names() if not _tiered(name)]
    for place, name in enumerate(plain):
        for seed in (place, 100 + place):
            yield f"pooled {seed} {name}", run(_spec(name), pooled.make, seed, seed=seed)
        seed = 200 + place
        yield f"cancels {seed} {name}", run(_spec(name), _with_cancels, seed)
        rules = ",".join(f"{key}={_word(value)}" for key, value in pooled.limits(seed).items() if not _endless(value))
        yield f"limits {seed} {name}", run(f"{_spec(name)}+limits:{rules}", pooled.make, seed)
        yield f"kinds {seed} {name}", run(_spec(name), _with_kinds, seed)
        for seed in (place, 6 * place + 2):
            yield f"io-aware {seed} {name}", run(_spec(name), transfers.make, seed, job_model="io-aware")
        for seed in range(place % 6, 18, 6):
            yield f"three-legs {seed} {name}", run(_spec(name), transfers.make, seed, job_model="three-legs")
    for place, name in enumerate(PINNED):
        for seed in range(10 * place, 10 * place + 5):
            spec = _spec(name, "reservations=pinned")
            yield f"pinned {seed} {name}", run(spec, transfers.make, seed, job_model="io-aware")
            yield f"tied {seed} {name}", run(spec, transfers.tied, seed, job_model="alloc-only:kill=false")
    for seed in range(40):
        params = pooled.policy(seed, ALL)
        spec = "priority:" + ",".join(f"{key}={_word(value)}" for key, value in params.items())
        yield f"family {seed}", run(spec, pooled.make, 1000 + seed)
    for seed in range(12):
        ends = f"plan-predict:estimator=recent,ends=predicted,keep=true,search={('annealing', 'descent')[seed % 2]}"
        yield f"predicted {seed}", run(ends, pooled.make, 2000 + seed, seed=seed)
        yield f"dice {seed}", run(Dice(), pooled.make, 3000 + seed, seed=seed)
        yield f"dice chunked {seed}", run(Dice(), transfers.make, seed, seed=seed)
    for place, name in enumerate(names()):
        for seed in (place, 50 + place):
            free = "tiered:nodes=free" if seed % 2 else "tiered"
            yield f"{free} {seed} {name}", run(_spec(name), tiered.make, seed, job_model=free)
    for place, name in enumerate(filter(_tiered, names())):
        for seed in range(100 + 10 * place, 106 + 10 * place):
            yield f"tiers {seed} {name}", run(_spec(name, "slot=stay"), tiered.make, seed, seed=seed)


def names():
    """Every policy, in the order in which they came: one more leaves the runs of all others as they are."""
    return [*(name for name in policies.names() if name not in NEWER + WITHOUT and not _needs_times(name)), *NEWER]


def _with_cancels(seed):
    made, machine = pooled.make(seed)
    return pooled.with_cancels(made, seed), machine


def _with_kinds(seed):
    return pooled.with_kinds(*pooled.make(seed), seed)


def large() -> Iterator[tuple[str, Callable[[], forebay.Result]]]:
    """Runs of real traces, where their data is at hand."""
    if not DATA:
        return
    for name in ("fcfs-easy", "fcfs", "sjf-easy", "conservative"):
        yield f"KTH {name}", lambda name=name: forebay.simulate(forebay.read(f"{DATA}/{KTH}"), None, name)
    for model, names in {
        "alloc-only": ("fcfs-bb", "plan-2", "bbsched", "cerberus-throughput"),
        "io-aware": ("fcfs-bb:reservations=pinned", "sjf-bb", "window-packing", "sjf-predict"),
    }.items():
        path = f"{DATA}/{PART.format(model=model)}"
        for name in names:
            yield (
                f"{model} part-3 {name}",
                lambda path=path, name=name, model=model: forebay.simulate(
                    forebay.read(path), "dragonfly-96", name, job_model=model
                ),
            )


def fingerprint(result: forebay.Result) -> str:
    """What happened, whatever the form of the log: who changed what when, and who had which nodes."""
    digest = hashlib.sha256()
    for frame, names in ((result.log, LOG), (result.jobs, JOBS)):
        for name in names:
            column = frame[name]
            digest.update(f"{name}:".encode())
            if column.dtype.is_float():
                digest.update(column.fill_null(float("nan")).to_numpy().tobytes())
            else:
                digest.update("\n".join("" if word is None else str(word) for word in column.to_list()).encode())
    return digest.hexdigest()[:20]


def outcome(run: Callable[[], forebay.Result]) -> str:
    """A run's fingerprint; of one in which jobs that carry resources lock each other out, that it stalls."""
    try:
        return fingerprint(run())
    except StalledError:
        return "stalled"


def stored() -> dict[str, str]:
    """The fingerprints that are to be met, by name."""
    return dict(pl.read_csv(STORE, schema_overrides=[pl.String, pl.String]).iter_rows())


def _endless(value: object) -> bool:
    return value in (ALL, float("inf"))


def _word(value: object) -> str:
    return "all" if value == ALL else str(value).lower()
