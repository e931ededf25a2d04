"""Cases of one's own: what they become, and what they refuse."""

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.testing import Case, Flexible, Job, Leg

pytestmark = pytest.mark.small


def test_a_malleable_job_asks_for_nothing():
    """It takes 8 s on its 2 nodes, so 16 s on one of them, and has sizes 1 to 4: `wants` of 0 is none of them."""
    sizes = Flexible("malleable", 1, 4, 4, 0)
    assert sizes.sizes(2) == [1, 2, 3, 4]
    assert sizes == Flexible("malleable", 1, 4, 4)
    case = Case(4, 0, (Job(0, (Leg(8, 40, nodes=2, buffer=0),), flexible=sizes),))
    seen = []

    class Looks(fb.Policy):
        def decide(self, view, act):
            seen.append((view.sizes(0), view.wants(0), view.time(0, 1), view.time(0, 4)))
            for job in view.queue:
                act.start(job)

    result = fb.simulate(case.workload(), case.platform(), Looks())
    assert seen[0] == ([1, 2, 3, 4], 0, 16.0, 4.0)
    assert result.jobs["finish_time"].to_list() == [8.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Flexible("rigid", 1, 2, 1), "type is 'rigid': known: evolving, malleable, moldable"),
        (lambda: Flexible("maleable", 1, 2, 1), "did you mean 'malleable'"),
        (lambda: Flexible("malleable", 0, 2, 1), "from 0 to 2 nodes; give 1 <= low <= high"),
        (lambda: Flexible("malleable", 3, 2, 1), "from 3 to 2 nodes"),
        (lambda: Flexible("malleable", 1, 2, 0), "has 0 rounds; give 1 or more"),
        (lambda: Flexible("malleable", 1, 2, 1, -1), "asks for -1 nodes; give as wants"),
        (lambda: Flexible("evolving", 1, 2, 1, 0), "evolving asks for 0 nodes; give as wants"),
        (lambda: Job(0, ()), "has no legs"),
        (lambda: Job(0, (Leg(1, 1, 1, 0),) * 2, flexible=Flexible("moldable", 1, 2, 1)), "2 legs, the first on 1 node"),
        (lambda: Job(0, (Leg(1, 1, 0, 0),), flexible=Flexible("moldable", 1, 2, 1)), "1 leg, the first on 0 nodes"),
    ],
)
def test_what_no_job_can_have_is_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()
