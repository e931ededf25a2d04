"""Loops that benchmarks need compiled."""

from forebay._jit import kernel
from forebay.engine.flows import finish, join, settle


@kernel
def _draw(x):
    """The next number of a small generator: no state, no compile time."""
    return (x * 1103515245 + 12345) % 2147483648


@kernel
def churn(net, total, at_a_time, ended):
    """Keep `at_a_time` transfers under way on route 0 until `total` have ended; returns how many did."""
    x, now, started, done = 1, 0.0, 0, 0
    for f in range(at_a_time):
        x = _draw(x)
        join(net, f, 0, 1 + x % 8, 1e6 * (1 + x % 1000), now)
        started += 1
    settle(net, now)
    while net.state[0]["n_timers"] > 0:
        now = net.timers[0]["time"]
        n = finish(net, now, ended)
        for i in range(n):
            done += 1
            if started < total:
                x = _draw(x)
                join(net, ended[i], 0, 1 + x % 8, 1e6 * (1 + x % 1000), now)
                started += 1
        settle(net, now)
    return done
