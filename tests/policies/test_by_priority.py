"""Presets of backfilling in the order of priorities."""

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.policies import load
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small


def test_the_preset_says_who_holds_reservations_and_the_order_who_goes_first():
    # Ann has used the machine, Bob has not: his job goes first, though it came later.
    table = {
        "id": [1, 2, 3],
        "submit": [0.0, 1.0, 2.0],
        "run_time": [700.0, 50.0, 50.0],
        "walltime": [700.0, 60.0, 60.0],
        "nodes": [4, 4, 4],
        "user": [1, 1, 2],
    }
    work = fb.Workload("by hand", job_table(table))
    starts = {
        spec: fb.simulate(work, "flat:nodes=4", spec).jobs.sort("job_id")["starting_time"].to_list()
        for spec in ("fcfs-bb", "fcfs-bb:order=fairshare", "fcfs:order=fairshare", "conservative:order=multifactor")
    }
    assert starts.pop("fcfs-bb") == [0, 700, 750]
    assert all(times == [0, 750, 700] for times in starts.values()), starts


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ("fcfs-bb:order=multifactor", "multifactor"),
        ("conservative-bb:order=fairshare", "fairshare:depth=all"),
        ("fcfs-easy:order=multifactor,PriorityWeightQOS=7", "multifactor:reserve=nodes,PriorityWeightQOS=7"),
        ("filler:order=fairshare", "fairshare:depth=0"),
        ("sjf-bb:order=fairshare", "fairshare:backfill_order=walltime"),
    ],
)  # fmt: skip
def test_it_is_the_policy_of_that_name_with_the_presets_reservations(spec, same):
    assert load(spec) == load(same)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("fcfs-bb:order=fairshare,descending=true", "leave it out"),
        ("fcfs-bb:order=multifactor,PriorityWeightAge=-1", "PriorityWeightAge is -1; give a whole number from 0"),
        ("fcfs-bb:order=multifactor,PriorityWeightAges=1", "no parameter 'PriorityWeightAges'"),
        ("plan-2:order=fairshare", "order"),
    ],
)
def test_bad_orders(spec, message):
    with pytest.raises(InputError, match=message):
        load(spec)
