"""What the view of a policy in plain Python is handed of a case."""

from functools import partial

from forebay._run.blocks import Blocks
from forebay._run.case import Case
from forebay.engine.policy_io.view_inputs import Handed


def handed_to(case: Case) -> Handed:
    """Building blocks, names, and where nodes stand, which is worked out when it is first asked for."""
    return Handed(Blocks, case.wishes.labels, partial(case.platform.topology.seen, case.platform.nodes))
