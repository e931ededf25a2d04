"""Each run once; stopped and gone on with, the tables are the same bytes."""

from dataclasses import replace

import pytest

from forebay.experiments import sweep
from forebay.experiments.execution.executor import Failure
from forebay.experiments.store import Store
from forebay.studies import _tables
from forebay.studies._expected import Expected, Published

pytestmark = pytest.mark.small

EXPECTED = Expected({("toy", "", "", "fcfs", "mean_wait"): Published(480.0, 0.1, "by hand")})


def tables(runs, store):
    """What a study would write."""
    rows = _tables.rows_of(sweep.records(runs, store))
    told = _tables.compared(_tables.cells(rows, ("section", "policy"), "mean_wait"), EXPECTED)
    return _tables.all_numbers(rows).write_csv() + _tables.frame(told).write_csv()


@pytest.mark.parametrize("stop_after", [0, 1, 5, 8])
def test_interrupted_and_resumed_is_the_same_to_the_byte(runs, here, tmp_path, stop_after):
    whole, broken = Store(tmp_path / "whole"), Store(tmp_path / "broken")
    sweep.carry_out(runs, whole, here())
    with pytest.raises(KeyboardInterrupt):
        sweep.carry_out(runs, broken, here(stop_after))
    assert len(sweep.missing(runs, broken)) == len(runs) - stop_after
    sweep.carry_out(runs, Store(tmp_path / "broken"), here())
    assert tables(runs, broken) == tables(runs, whole)
    assert sorted(path.name for path in broken.runs.iterdir()) == sorted(path.name for path in whole.runs.iterdir())


def test_what_is_there_is_not_repeated(runs, here, tmp_path):
    store, told = Store(tmp_path), []
    sweep.carry_out(runs, store, here(), lambda run, ended, total, failed: told.append((run.name, ended, total)))
    assert [ended for _, ended, _ in told] == list(range(1, 10))
    assert {total for *_, total in told} == {9}
    sweep.carry_out(runs, store, here(stop_after=0))  # would raise if it was called


def test_equal_runs_are_carried_out_once(runs, here, tmp_path):
    twins = [runs[0], replace(runs[0], name="the same")]
    called = []
    sweep.carry_out(twins, Store(tmp_path), here(), lambda run, *_: called.append(run))
    assert len(called) == 1


def test_long_ones_go_first_and_others_as_they_come(runs, tmp_path):
    heavy = [*runs[:2], replace(runs[2], effort=5.0), *runs[3:]]
    names = [run.name for run in sweep.missing(heavy, Store(tmp_path))]
    assert names == [runs[2].name, *(run.name for run in (*runs[:2], *runs[3:]))]


def test_failures_are_named_and_the_others_kept(runs, here, tmp_path):
    bad = [replace(run, job_model="alloc-onyl") for run in runs[:7]]
    store = Store(tmp_path)
    with pytest.raises(sweep.RunsFailedError) as caught:
        sweep.carry_out([*bad, *runs[7:]], store, here())
    text = str(caught.value)
    assert text.startswith(f"7 of 9 runs failed; the other 2 are kept in {tmp_path}")
    assert "fcfs replica 0: unknown job model 'alloc-onyl'" in text
    assert text.endswith("and 2 more")
    assert caught.value.exit_code == 2
    assert [run in store for run in (*bad, *runs[7:])] == [False] * 7 + [True] * 2


def test_the_worst_exit_code_counts(runs, tmp_path):
    codes = iter([2, 3])
    with pytest.raises(sweep.RunsFailedError) as caught:
        sweep.carry_out(
            runs[:2], Store(tmp_path), lambda runs, done: [done(run, Failure("x", next(codes))) for run in runs]
        )
    assert caught.value.exit_code == 3


def test_a_policy_may_name_what_the_warm_up_lacks():
    """Its runs are on another machine, which has it."""
    sweep.warm_up(["window-constrained:objectives=ssd"])
