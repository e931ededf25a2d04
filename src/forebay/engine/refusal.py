"""What a policy may not do stops the run, and says why."""

from numba import types

from forebay._numba.jit import kernel
from forebay.core.codes import Status
from forebay.engine.truth import TRUTH


@kernel(types.int64(TRUTH, types.int64, types.int64, types.int64))
def refuse(truth, refusal, job, resource):
    """Note why an action is refused."""
    cursor = truth.cursor[0]
    cursor["refusal"] = refusal
    cursor["refused_job"] = job
    cursor["refused_resource"] = resource
    return Status.REFUSED.value
