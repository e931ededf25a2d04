"""What a machine draws, node by node and event by event: slow, and obvious. From the log and the nodes of its rows."""

import math

import polars as pl


def _holders(result):
    """Who has each node, after each row of the log that changes it: time, then a job's id or None by node."""
    named = {}
    for row, low, high in result.placements.rows():
        named.setdefault(row, []).extend(range(low, high + 1))
    holder = [None] * result.resources["nodes"]
    for row, one in enumerate(result.log.rows(named=True)):
        job, mine = one["job"], [n for n, who in enumerate(holder) if who == one["job"]]
        if one["resource"] != "nodes" or one["amount"] == 0:
            continue
        if one["kind"] in ("start", "acquire"):
            for n in named[row]:
                assert holder[n] is None
                holder[n] = job
        elif one["kind"] in ("end", "release"):
            for n in named.get(row, mine):
                assert holder[n] == job
                holder[n] = None
        else:
            continue
        yield one["time"], list(holder)


def draws(result, nodes, watts, shutdown=None):
    """Moments and the draw from each to the next. `nodes` has (idle, busy) of each node, `watts` those of jobs by id.

    `shutdown` is (after, off watts). Nodes are idle since the first row of a job.
    """
    times = result.log.filter(pl.col("job").is_not_null())["time"]  # nodes may fail before, and behind
    begin, end = times.min(), times.max()
    states = [(begin, [None] * len(nodes)), *_holders(result)]
    idle_since = [begin] * len(nodes)
    moments = []  # (time, draw)
    for k, (time, holder) in enumerate(states):
        before = states[k - 1][1] if k else holder
        for n, job in enumerate(holder):
            if job is None and before[n] is not None:
                idle_since[n] = time
        until = states[k + 1][0] if k + 1 < len(states) else end
        cuts = {time}
        if shutdown is not None:
            cuts |= {t + shutdown[0] for t in idle_since if time < t + shutdown[0] < until}
        for moment in sorted(cuts):
            draw = 0.0
            for n, (idle, busy) in enumerate(nodes):
                job = holder[n]
                if job is not None:
                    draw += watts.get(job, busy)
                elif shutdown is not None and moment >= idle_since[n] + shutdown[0]:
                    draw += shutdown[1]
                else:
                    draw += idle
            if moments and moments[-1][0] == moment:
                moments.pop()
            moments.append((moment, draw))
    return moments


def integral(moments, end):
    """Joules from the first moment to an end."""
    ends = [time for time, _ in moments[1:]] + [math.inf]
    return math.fsum(draw * max(min(to, end) - time, 0.0) for (time, draw), to in zip(moments, ends, strict=True))


def most(moments):
    """The most that is drawn for any length of time."""
    return max(draw for _, draw in moments)


def boots(result, after):
    """Which jobs start on a node that is off, once for each such start."""
    begin, found = result.log["time"].min(), []
    idle_since = dict.fromkeys(range(result.resources["nodes"]), begin)
    before = [None] * result.resources["nodes"]
    for time, holder in _holders(result):
        taken = [n for n, job in enumerate(holder) if job is not None and before[n] is None]
        for n, job in enumerate(holder):
            if job is None and before[n] is not None:
                idle_since[n] = time
        if any(time >= idle_since[n] + after for n in taken):
            found.append(holder[taken[0]])
        before = holder
    return found
