"""The row of numbers that a kernel reads, and machines that a policy refuses."""

from enum import IntEnum

import pytest

import forebay
from cases import pooled, tiered
from cases.chunks import compiles
from forebay.core.verbs import act_reject, act_wake
from forebay.errors import InputError
from forebay.policies._base import lay
from forebay.policies._families.backfill import Backfill
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.backfill.backfill import serve

pytestmark = pytest.mark.small


class Param(IntEnum):
    DEPTH = 1
    ORDER = 0


def test_every_value_stands_at_the_place_of_its_name():
    assert lay(Param, depth=3, order=7).tolist() == [7, 3]


@pytest.mark.parametrize("values", [{"depth": 1}, {"depth": 1, "ordr": 2}, {"depth": 1, "order": 2, "more": 3}])
def test_a_name_too_many_too_few_or_misspelt_is_an_error(values):
    with pytest.raises(TypeError, match="Param has order, depth; given are depth"):
        lay(Param, **values)


@forebay.policy_kernel
def first_of_all_rejects_and_wakes(state, params, memory, rng):
    counts = state.counts[0]
    if counts["n_queued"] == 0:
        return
    have = what_is_there(state, False)
    line = state.queue[counts["queue_first"] : counts["queue_last"]].copy()
    act_wake(state, state.clock[0]["now"] + 1e6)
    for k in range(len(line)):
        if line[k] >= 0 and state.jobs[line[k]]["id"] % 5 == 0:
            act_reject(state, line[k])
            line[k] = -1
    serve(state, have, line, params)


class RejectsFirst(forebay.Policy):
    def kernel(self):
        return first_of_all_rejects_and_wakes

    def params(self):
        return Backfill(depth=2).params()


@compiles
def test_a_kernel_may_act_before_it_backfills():
    """Only starts count among the actions of a decision: the profile took wakes and rejections for starts of a job."""
    made, machine = pooled.make(4, legs=False)
    result = forebay.simulate(made, machine, RejectsFirst())
    rest = forebay.simulate(pooled.without(made, lambda job: job % 5 == 0), machine, Backfill(depth=2))
    left = result.jobs.filter(began(result)).select("job_id", "starting_time").rows()
    assert left == rest.jobs.filter(began(rest)).select("job_id", "starting_time").rows()
    assert len(left) < len(made)


def began(result):
    return result.jobs["starting_time"].is_not_null()


def test_a_tier_that_the_machine_lacks_is_refused():
    made, machine = tiered.make(11)
    n_fast = len(machine.ways) - 1
    forebay.simulate(made, machine, f"tier-fast:tier={n_fast}")
    with pytest.raises(InputError, match=f"tier is {n_fast + 1}, and this machine has {n_fast} fast"):
        forebay.simulate(made, machine, f"tier-fast:tier={n_fast + 1}")
