"""A slow twin of I/O schedulers: one link, jobs that write and compute in turns, all started as they are submitted."""

import math


def _set(job):
    seconds = sum(job["phases"])
    return math.floor(math.log10(seconds / (len(job["phases"]) // 2)) + 0.5)


def _slowdown(job, now):
    return (job["taken"] + now - job["since"] + job["left"]) / job["alone"]


def _shares(scheduler, asking, now):
    """The weight of each job that writes, by the words of its definition; those without one are held."""
    if scheduler == "fair":
        return dict.fromkeys(asking, 1.0)
    first = {
        "fcfs-io": lambda name: asking[name]["since"],
        "io-exclusive-by-remaining": lambda name: asking[name]["left"],
        "io-priority": lambda name: -_slowdown(asking[name], now),
    }
    if scheduler in first:
        least = min(first[scheduler](name) for name in asking)  # of some that are alike the one that came first
        alike = [name for name in asking if first[scheduler](name) <= least + 1e-9 * abs(least)]
        return {min(alike, key=lambda name: asking[name]["since"]): 1.0}
    sets = {}
    for name in sorted(asking, key=lambda name: asking[name]["since"]):
        sets.setdefault(_set(asking[name]), name)
    return {name: 10.0**-of for of, name in sets.items()}


def run(scheduler, submits, phases, rate=1.0):
    """When each job ends. `phases` are its bytes and seconds in turns: write, compute, write, ..."""
    jobs = {}
    for name, (submit, own) in enumerate(zip(submits, phases, strict=True)):
        jobs[name] = {"phases": own, "at": -1, "next": submit, "taken": 0.0, "alone": 0.0, "writes": False}
    ends, now, shares, decides = {}, 0.0, {}, False
    while len(ends) < len(jobs):
        asking = {name: job for name, job in jobs.items() if job["writes"]}
        if decides:  # only where a write has begun or ended
            shares = _shares(scheduler, asking, now) if asking else {}
        speed = {name: rate * weight / sum(shares.values()) for name, weight in shares.items()}
        then = min(
            [now + asking[name]["left"] / speed[name] for name in speed]
            + [job["next"] for name, job in jobs.items() if not job["writes"] and name not in ends]
        )
        over = [name for name in speed if now + asking[name]["left"] / speed[name] == then]
        for name, own in speed.items():
            asking[name]["left"] -= own * (then - now)
        now, decides = then, bool(over)
        for name in over:
            jobs[name] |= {"writes": False, "next": now, "taken": jobs[name]["taken"] + now - jobs[name]["since"]}
        for name, job in jobs.items():
            if name in ends or job["writes"] or job["next"] > now:
                continue
            job["at"] += 1
            if job["at"] == len(job["phases"]):
                ends[name] = now
            elif job["at"] % 2 == 0:
                size = job["phases"][job["at"]]
                decides = True
                job |= {"writes": True, "left": size, "since": now, "alone": job["alone"] + size / rate}
            else:
                job["next"] = now + job["phases"][job["at"]]
    return [ends[name] for name in range(len(jobs))]
