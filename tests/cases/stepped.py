"""A run that is gone through by steps, snapshots, forks and returns, and must be what one call makes of it."""

import pickle

import numpy as np

import forebay as fb
from forebay.engine.build import table_roles


def _read_only(stepper):
    """Copies of the tables of which it is said that no run changes them."""
    everything = [*table_roles.walk(stepper.state, ""), *table_roles.walk(stepper.truth, "truth")]
    return {name: table.copy() for name, table in everything if name in table_roles.READ_ONLY and table.size}


def _bits(table):
    """What a table holds, without what lies between its columns."""
    return [table[name].tobytes() for name in table.dtype.names] if table.dtype.names else table.tobytes()


def _changed(before, after):
    return [name for name, table in before.items() if _bits(table) != _bits(after[name])]


def simulate(workload, platform=None, policy="fcfs-bb", seed=0, job_model=None, failures=None, rate=0.15):
    """As `forebay.simulate`, with detours that must leave no trace."""
    given = {"platform": platform, "policy": policy, "seed": seed, "job_model": job_model, "failures": failures}
    sim, rng = fb.open(workload, **given), np.random.default_rng(len(str(policy)) + seed)
    before, kept, forks = _read_only(sim._stepper), [], []
    while not sim.over:
        draw = rng.random()
        if draw < rate:
            snapshot = sim.snapshot()
            kept.append(snapshot)
            for _ in range(rng.integers(1, 6)):  # a future that is given up
                if sim.over or not sim.step():
                    break
            if not sim.over and rng.random() < 0.5:
                sim.snapshot()
            sim.restore(snapshot)
        elif draw < 1.2 * rate:
            forks.append(sim.fork())
        sim.step()
    result = sim.result()
    wanted = result.facts["log_sha256"]
    changed = _changed(before, _read_only(sim._stepper))
    assert not changed, changed
    for fork in forks[:3]:
        assert fork.run().result().facts["log_sha256"] == wanted
    if kept:
        late = pickle.loads(pickle.dumps(kept[len(kept) // 2])) if isinstance(policy, str) else kept[len(kept) // 2]
        assert fb.open(workload, **given).restore(late).run().result().facts["log_sha256"] == wanted
        again = sim.restore(kept[0]).run().result()
        assert again.facts["log_sha256"] == wanted
        assert again.facts["decisions"] == result.facts["decisions"]
        assert again.facts["notes"] == result.facts["notes"]
    return result
