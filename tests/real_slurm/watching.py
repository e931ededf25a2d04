"""A watch beside a real Slurm whose clock runs 20 times as fast: how good its predictions are, and how little it asks.

`python tests/real_slurm/watching.py MINUTES FOLDER [SEED]` submits random jobs to 8 nodes for so many minutes of our
clock, and prints what the watch found as JSON; its record and its page stay in FOLDER.
"""

import json
import random
import re
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from forebay._live.watch.running import Watch
from forebay._live.watch.scores import reliability
from real_slurm.fast import Fast, FastSlurm

EVERY = 155  # seconds between two jobs, on average: 95 % of the nodes
EXTRA = ["Licenses=bb:10", "PartitionName=short Nodes=ALL MaxTime=15"]


def jobs(seed):
    """As (seconds until the next, nodes, limit in minutes, seconds that it runs, licences): limits are used by half."""
    rng = random.Random(seed)
    while True:
        limit = rng.choice((5, 10, 15, 30))
        seconds = max(5, round(60 * limit * rng.uniform(0.2, 0.95)))
        yield rng.expovariate(1 / EVERY), rng.choice((1, 1, 2, 2, 3, 4, 6)), limit, seconds, rng.choice((0, 0, 1, 2, 4))


def submit(cluster, seed, stop):
    """Until it is stopped."""
    due = cluster.clock.now()
    for number, (pause, nodes, limit, seconds, licences) in enumerate(jobs(seed)):
        cluster.clock.sleep_until(due)
        if stop.is_set():
            return
        queue = ["-p", "short"] if limit <= 10 else []
        cluster.submit(f"w{number}", nodes, limit, seconds, licences, *queue)
        due += pause


def run(minutes, folder, seed=1, speed=20):
    """What came of it."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as place:
        scheduler = "bf_interval=30,bf_resolution=30,bf_licenses"
        with Fast(place, 8, scheduler, EXTRA, speed) as cluster:
            slurm, stop = FastSlurm(cluster.folder), threading.Event()
            thread = threading.Thread(target=submit, args=(cluster, seed, stop))
            thread.start()
            watch = Watch(Path(folder), slurm, policies=("fcfs-bb", "plan-best"), replay_every=3 * 3600.0)
            said, until, begun = [], time.monotonic() + 60 * minutes, cluster.clock.now()
            try:
                while time.monotonic() < until:
                    began = cluster.clock.now()
                    watch.once(said.append)
                    slurm.sleep(60 - (cluster.clock.now() - began))
            finally:
                watch.end()
                stop.set()
                thread.join()
            calls = cluster.run("sdiag")
            hours = (cluster.clock.now() - begun) / 3600
    rpcs = re.findall(r"^\s+(REQUEST_\w+)\s+\(\s*\d+\) count:(\d+)", calls, re.MULTILINE)
    return {
        "speed": speed, "minutes": minutes, "hours_of_slurm": hours, "cycles": watch.cycles,
        "calls_of_commands": watch._reader.total, "rpcs": {name: int(count) for name, count in rpcs},
        "lost": watch._scores.lost, "not_started": len(watch._scores.open),
        "reliability": [one._asdict() for one in reliability(watch._scores.done)],
        "replay": watch._replays.last(),
        "most_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "failed": [one for one in said if not re.match(r"\d", one)][:5],
    }  # fmt: skip


if __name__ == "__main__":
    minutes, folder, *seed = sys.argv[1:]
    print(json.dumps(run(float(minutes), folder, int(seed[0]) if seed else 1)), flush=True)
