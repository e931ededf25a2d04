"""Under every policy, nobody starts before those are done that it waits for."""

import numpy as np
import pytest

import forebay as fb
from cases import specs
from cases.waiting import check_waits
from forebay import policies
from forebay.testing.drawing import KINDS, random_case
from forebay.testing.kinds import Dependent

CASES = 12
ALONE = [kind for kind in KINDS if isinstance(kind, Dependent)]


@pytest.mark.small
@pytest.mark.parametrize("spec", specs.WITHOUT_TIMES)
def test_every_policy_waits_for_parents(spec):
    waited = 0
    for number in range(CASES):
        case = random_case(np.random.default_rng([11, number]), ALONE)
        workload = case.workload()
        if workload.dependencies is None or policies.load(spec).needs_files or policies.load(spec).needs_tiers:
            continue
        result = fb.simulate(workload, case.platform(), spec)
        check_waits(result, workload)
        waited += result.log.filter(kind="eligible").height
    assert waited or policies.load(spec).needs_files or policies.load(spec).needs_tiers
