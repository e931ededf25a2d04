"""The optimum against every order of jobs, and other bounds against the optimum."""

from itertools import permutations

import numpy as np
import pytest

import forebay as fb
from forebay._bounds import _exact, _lp
from forebay._bounds._busy import busy
from forebay._bounds._jobs import jobs_of
from forebay._bounds._objective import METRICS, objectives, of_starts
from forebay._bounds._prices import prices
from forebay._bounds._serial import schedule
from forebay._bounds._srpt import srpt
from forebay.engine.build.tables import make_program
from forebay.workload import job_table

ortools = pytest.importorskip("ortools", reason='needs pip install "forebay[ortools]"')


def drawn(seed, n=5, halves=False):
    """Jobs on a machine of nodes and a pooled buffer."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 6))
    step = 0.5 if halves else 1.0
    columns = {
        "id": np.arange(1, n + 1),
        "submit": np.sort(rng.integers(0, 2 * n, n)) * step,
        "run_time": rng.integers(1, 12, n) * step,
        "walltime": np.full(n, 12.0),
        "nodes": rng.integers(1, nodes + 1, n),
        "burst_buffer": rng.integers(0, 11, n),
    }
    jobs, machine = fb.Workload("drawn", job_table(columns)), fb.platform(f"flat:nodes={nodes},burst_buffer=10B")
    program = make_program(jobs, machine, "alloc-only")
    return jobs, machine, {first: jobs_of(jobs, machine, program, first=first) for first in (True, False)}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("halves", [False, True])
def test_every_order(seed, halves):
    """Jobs that choose their starts one after the other: some order gives an optimum."""
    both = drawn(seed, halves=halves)[2]
    orders = [np.array(order) for order in permutations(range(5))]
    starts = [schedule(both[True], order) for order in orders]
    for metric in METRICS:
        certain = both[of_starts(metric)]
        expected = min(_exact.cost_of(certain, metric, one) for one in starts)
        found = _exact.solve(certain, metric, 30.0)
        assert found.done
        assert found.best == pytest.approx(expected, abs=1e-7)
        assert found.least == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_schedules_that_are_found_can_be_run(seed):
    """A policy that starts jobs at these moments has the metric that was promised."""
    jobs, machine, both = drawn(seed, n=7)
    starts = schedule(both[True], np.random.default_rng(seed).permutation(7))

    class Planned:
        """Starts jobs when they are due."""

        def decide(self, view, act):
            """By the table."""
            for job in view.queue:
                if starts[job] <= view.now + 1e-9:
                    act.start(job)
                else:
                    act.wake(float(starts[job]))

    result = fb.simulate(jobs, machine, Planned())
    assert result.jobs["starting_time"].to_numpy() == pytest.approx(starts)


@pytest.mark.parametrize("seed", range(10))
def test_relaxations_are_below_the_optimum(seed):
    """Squashed areas, prices and the linear program; and the program is no more than half an interval below areas."""
    _, _, both = drawn(seed, n=7)
    for metric in METRICS[:-1]:
        certain = both[of_starts(metric)]
        cost = _exact.solve(certain, metric, 30.0)
        optimum = _exact._means(certain, metric)(cost.best)
        program = max(one.value for one in _lp.linear(certain, metric, 30.0))
        squashed = max(one.value for one in busy(certain, metric) if "+" not in one.resource)
        others = [one.value for kind in (srpt, prices) for one in kind(certain, metric)]
        assert max(program, squashed, *others, 0.0) <= optimum + 1e-6
        if metric.startswith(("mean_w", "mean_t", "node")):
            weight = objectives(certain, metric)[0].weight
            interval = float(_lp._grid(certain, _lp.INTERVALS).length.max())
            assert program >= squashed - interval / 2 * weight.sum() / objectives(certain, metric)[0].divisor - 1e-9


def test_windows_are_below_the_whole():
    """Of jobs by themselves, as if no others were there."""
    jobs, machine, _ = drawn(3, n=8)
    whole = fb.bounds(jobs, machine, "mean_wait", exact=True).table
    parts = fb.bounds(jobs, machine, "mean_wait", exact=True, window=3).table
    row = parts.filter(parts["bound"] == "optimum of 3 windows")
    assert 0 < row["value"].item() <= whole.filter(whole["bound"] == "optimum")["value"].item()


def test_times_without_a_common_step_are_rounded_down():
    """The bound stays below what every order gives, and comes close to it."""
    rng = np.random.default_rng(5)
    columns = {"id": np.arange(1, 6), "submit": np.sort(rng.random(5) * 5), "run_time": rng.random(5) * 9 + 1}
    columns |= {"walltime": np.full(5, 20.0), "nodes": rng.integers(1, 4, 5)}
    jobs, machine = fb.Workload("drawn", job_table(columns)), fb.platform("flat:nodes=3")
    certain = jobs_of(jobs, machine, make_program(jobs, machine, "alloc-only"))
    orders = (schedule(certain, np.array(order)) for order in permutations(range(5)))
    expected = min(_exact.cost_of(certain, "mean_wait", one) for one in orders)
    found = _exact.solve(certain, "mean_wait", 30.0)
    assert found.best == pytest.approx(expected)
    assert expected - 1e-3 < found.least <= expected


def test_a_solver_that_is_stopped_gives_what_it_has_proved():
    """And says so."""
    jobs, machine, _ = drawn(1, n=40)
    least = fb.bounds(jobs, machine, "mean_wait", exact=True, time_limit=0.05)
    row = least.table.filter(least.table["bound"].str.starts_with("optimum"))
    assert row["proved"].item() == "0 of 1 windows solved to the end"
    assert row["bound"].item() == "optimum, relaxed"
    assert 0 < row["value"].item() <= row["best_found"].item()
