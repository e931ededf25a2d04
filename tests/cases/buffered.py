"""What jobs have in the burst buffer, from the log of a run: checkpoints from their beginning until drained."""

from collections import defaultdict


def most_buffered(result):
    """The most bytes that each job with checkpoints has there at a time."""
    changes = defaultdict(list)  # by job: time, bytes
    begun = {}
    rows = result.log.filter(result.log["kind"].is_in(["begin_phase", "end_phase"]))
    for time, job, kind, amount, reason in rows.select("time", "job", "kind", "amount", "reason").iter_rows():
        if reason == "checkpoint" and kind == "begin_phase":
            begun[job] = time
        elif reason == "checkpoint":
            changes[job].append((begun[job], amount))
        elif reason == "drain" and kind == "end_phase":
            changes[job].append((time, -amount))
    return {job: _most(sorted(changed)) for job, changed in changes.items()}


def _most(changed):
    """The highest level that changes reach; what goes at a time goes before what comes."""
    level = highest = 0
    for _, amount in changed:
        level += amount
        highest = max(highest, level)
    return highest
