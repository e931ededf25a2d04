"""What a job has still to read or write, alone on the machine, and how much of the file system it could use."""

from forebay._numba.jit import kernel
from forebay.core.codes import PhaseKind
from forebay.engine.contention.kernels import bytes_left


@kernel
def is_io(kind):
    """Whether a phase of this kind crosses the file system."""
    return kind in (PhaseKind.READ, PhaseKind.WRITE, PhaseKind.STAGE_IN, PhaseKind.STAGE_OUT, PhaseKind.DRAIN)


@kernel
def _add(truth, f, now, n_touched):
    """Add what transfer `f` has still to move to the links it crosses; returns (links so far, its own seconds)."""
    net, paths = truth.network, truth.paths
    transfer = net.transfers[f]
    c, weight, amount, delay = transfer["base"], transfer["weight"], 0.0, 0.0
    if transfer["next_route"] >= 0:
        c, weight, amount = transfer["next_route"], transfer["next_weight"], transfer["next_amount"]
        delay = net.routes[c]["delay"]
    elif transfer["route"] >= 0 and c < net.state[0]["n_static"] and c != net.state[0]["waiting_route"]:
        amount = bytes_left(net, f, now)
    if amount == 0.0:
        return n_touched, 0.0
    e = net.routes[c]["entry"]
    while e >= 0:
        k = net.entries[e]["link"]
        if paths.by_link[k] == 0.0:
            paths.touched[n_touched] = k
            n_touched += 1
        paths.by_link[k] += net.entries[e]["unit"] * amount
        e = net.entries[e]["next"]
    return n_touched, delay + amount / (weight * net.routes[c]["cap"])


@kernel
def left_alone(truth, j, now):
    """Seconds that the I/O of job `j` would still take alone, and how much of its busiest link it would use, 0 to 1."""
    net, paths, n_touched, longest = truth.network, truth.paths, 0, 0.0
    f = truth.activities[j]["first"]
    while f >= 0:
        n_touched, seconds = _add(truth, f, now, n_touched)
        longest = max(longest, seconds)
        f = net.transfers[f]["sibling"]
    left = truth.activities[j]["drains"]
    for f in range(len(net.transfers)):
        if left == 0:
            break
        if net.transfers[f]["job"] == j and net.transfers[f]["beside"] > 0:
            n_touched, seconds = _add(truth, f, now, n_touched)
            longest = max(longest, seconds)
            left -= 1
    busiest = 0.0
    for i in range(n_touched):
        k = paths.touched[i]
        busiest = max(busiest, paths.by_link[k] / net.links[k]["capacity"])
        paths.by_link[k] = 0.0
    longest = max(longest, busiest)
    return longest, busiest / longest if longest > 0.0 else 0.0
