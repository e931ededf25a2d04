"""What a second of waiting counts for each job of a plan: the objective that the search serves.

A plan costs the sum of its jobs' waits to the power alpha, each times the weight of its job.
"""

from forebay._numba.jit import kernel
from forebay.policies._families.plan import Objective

_SHORT = 600.0  # s, as in the bounded slowdown: jobs shorter than this are as impatient as one of this length
_LEAST = 1e-9  # a job without a walltime counts, if next to nothing


@kernel
def weigh(board, objective, alpha):
    """Set the weights. With mean waits as the objective all of them are one, as they are."""
    if objective == Objective.SLOWDOWN:  # (wait / length) to the power alpha, in units of the shortest length
        for q in range(len(board.weight)):
            board.weight[q] = max(_SHORT / max(board.duration[q], _SHORT), _LEAST) ** alpha
