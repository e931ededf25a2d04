"""One job after the other has the file system, in order of arrival."""

from forebay._numba.jit import kernel


@kernel
def arrange(state, truth, now):
    """Requests stand in order of arrival: the first moves."""
    for i in range(truth.io.plan[0]["n"]):
        truth.io.requests[i]["grant"] = 1.0 if i == 0 else 0.0
