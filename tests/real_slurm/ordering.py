"""What an order from outside does to waits on a real Slurm whose clock runs 20 times as fast.

`python tests/real_slurm/ordering.py CASE MODE [SEED]` runs one case and prints a line of JSON.

CASE: `table1`, eight jobs for which EASY is unfair to the third; `starving`, a job that needs 8 of 10 licences among a
stream of jobs that need 4; `sixty`, random jobs on 8 nodes. MODE: `native`; `sjf`, Slurm with priorities by walltime
from submission on; or a policy such as `plan-best`, whose plan the agent follows. With `/plain` behind it backfill does
not plan with licences (`bf_licenses` is off).
"""

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))

from forebay._live.agent.running import Agent, Bounds
from real_slurm.fast import Fast, FastSlurm

TABLE_1 = (
    (0, 10, 1, 4),
    (0, 4, 1, 2),
    (1, 1, 3, 8),
    (2, 3, 2, 4),
    (3, 1, 3, 4),
    (3, 1, 2, 2),
    (4, 5, 1, 2),
    (4, 3, 2, 4),
)
"""Submitted at, limit (minutes), nodes, licences: jobs run as long as they say."""
SLACK = 8  # seconds that they end before it, or Slurm ends them
EVERY = 20  # seconds between two plans


def table_1(seed):
    """As (name, second, nodes, limit in minutes, seconds it runs, licences)."""
    return [
        (f"J{i}", 60 * at, nodes, limit, 60 * limit - SLACK, licences)
        for i, (at, limit, nodes, licences) in enumerate(TABLE_1, 1)
    ]


def starving(seed):
    """One that needs 8 of 10, after the second of many that need 4."""
    stream = [(f"s{i}", 8 * i, 1, 1, 20, 4) for i in range(50)]
    return sorted([*stream, ("BIG", 10, 1, 1, 5, 8)], key=lambda job: job[1])


def sixty(seed):
    """Random jobs: 45 s between two on average, limits of 2 to 20 minutes of which they use 60 to 95 %."""
    rng, now, jobs = random.Random(seed), 0.0, []
    for i in range(60):
        now += rng.expovariate(1 / 45)
        limit = rng.choice((2, 3, 4, 5, 8, 10, 15, 20))
        seconds = limit * 60 * rng.uniform(0.6, 0.95)
        jobs.append((f"W{i}", now, rng.choice((1, 1, 2, 2, 3, 4, 6)), limit, round(seconds), 0))
        jobs[-1] = (*jobs[-1][:5], rng.choice((1, 1, 2, 2, 3, 4, 5, 8)))
    return jobs


CASES = {"table1": (table_1, 4), "starving": (starving, 4), "sixty": (sixty, 8)}


def run(case, mode, seed, folder, speed=20):
    """Waits, and what the agent did."""
    draw, nodes = CASES[case]
    jobs, (mode, _, plain) = draw(seed), mode.partition("/")
    scheduler = "bf_interval=5,bf_resolution=5,bf_max_job_test=1000" + ("" if plain else ",bf_licenses")
    with Fast(Path(folder) / "slurm", nodes, scheduler, ["Licenses=bb:10"], speed) as cluster:
        stop, log = threading.Event(), []
        agent = None
        if mode not in ("native", "sjf"):
            agent = Agent(Path(folder) / "agent", mode, True, 600, Bounds(1.0, 10_000), FastSlurm(cluster.folder))
            agent._guard = SimpleNamespace(poll=lambda: None, wait=lambda *_: None)
            thread = threading.Thread(target=_orders, args=(agent, cluster.clock, stop, log))
            thread.start()
        begun = cluster.clock.now()
        for name, at, wide, limit, seconds, licences in jobs:
            cluster.clock.sleep_until(begun + at)
            first = [f"--priority={1_000_000 - 1000 * limit}"] if mode == "sjf" else []
            cluster.submit(name, wide, limit, seconds, licences, *first)
        until = cluster.clock.now() + 6 * 3600
        while len(cluster.completed()) < len(jobs) and cluster.clock.now() < until:
            time.sleep(0.2)
        stop.set()
        if agent is not None:
            thread.join()
            agent.end(log.append)
        ended = cluster.completed()
    return _summary(case, mode, plain, seed, jobs, ended, log, folder)


def _orders(agent, clock, stop, log):
    while not stop.is_set():
        began = clock.now()
        try:
            one = agent.round()
            log.append((one.waiting, one.changed, one.why_not, clock.now() - began))
        except Exception as error:  # a thread: it is in the summary
            log.append(repr(error))
        clock.sleep_until(began + EVERY)


def _stamp(text):
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def _summary(case, mode, plain, seed, jobs, ended, log, folder):
    rows = {
        name: tuple(_stamp(words[key]) for key in ("SubmitTime", "StartTime", "EndTime"))
        for name, words in ended.items()
    }
    first = min(row[0] for row in rows.values())
    waits = {name: row[1] - row[0] for name, row in rows.items()}
    sizes = sorted(waits.values())
    about = {"case": case, "mode": mode + (f"/{plain}" if plain else ""), "seed": seed, "jobs": len(jobs)}
    about |= {"states": sorted({words["JobState"] for words in ended.values()}), "ended": len(ended)}
    about |= {"failed": [name for name, words in ended.items() if words["JobState"] != "COMPLETED"]}
    about |= {"mean_wait": statistics.mean(sizes), "p95": sizes[int(0.95 * len(sizes))], "max": sizes[-1]}
    about |= {"starts": {name: row[1] - first for name, row in rows.items()}, "waits": waits}
    rounds = [one for one in log if isinstance(one, tuple)]
    about["agent"] = {
        "rounds": len(rounds),
        "refused": sum(bool(one[2]) for one in rounds),
        "changed": sum(one[1] for one in rounds),
        "longest_round": max((one[3] for one in rounds), default=0),
        "said": [str(one) for one in log if not isinstance(one, tuple)][:5],
    }
    audit = Path(folder) / "agent" / "audit.jsonl"
    if case == "starving" and audit.exists():
        big = next(words["JobId"] for name, words in ended.items() if name == "BIG")
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        about["planned"] = [(line["time"], line["starts"][big]) for line in lines if big in line.get("starts", {})][:3]
    return about


if __name__ == "__main__":
    case, mode, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        speed = int(rest[1]) if len(rest) > 1 else 20
        print(json.dumps(run(case, mode, int(rest[0]) if rest else 1, folder, speed)), flush=True)
