"""What `sprio` of a real Slurm says of waiting jobs, and what multifactor priorities make of the same jobs.

`python tests/real_slurm/priorities.py SETTING` records one anew, in five minutes; it needs a database and the rights to
submit in other users' names. Users are all children of the root account: fair share is flat here.

Usage is charged each PriorityCalcPeriod to the jobs that run. What a job uses between the last of these and its end, a
Slurm 22.05 does not charge (a job of 80 s had 56 s charged, says its log): so jobs end at that time here.
"""

import itertools
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import forebay as fb
from forebay.core.verbs import act_wake
from forebay.policies._families.multifactor import Number
from forebay.workload.workload import job_table
from real_slurm.forced import Forced
from real_slurm.record import write

NODES = 4
SHARES = {"root": 1, "daemon": 1, "games": 1, "mail": 2}
PARTITIONS, QOS = {"main": 1, "wide": 10}, {"normal": 0, "mid": 50, "high": 100}
USED = (("daemon", 1, 80), ("games", 2, 80), ("mail", 1, 100))  # user, nodes, seconds
WEIGHTS = {"Age": 1000, "Fairshare": 100000, "JobSize": 1000, "Partition": 1000, "QOS": 1000}
COLUMNS = ("id", "user", "partition", "qos", "nodes", "submit", "start", "end", *WEIGHTS, "sum", "calculated")
SETTINGS = {"fair_tree": (), "no_fair_tree": ("PriorityFlags=NO_FAIR_TREE",)}
COMMON = (
    "PriorityType=priority/multifactor",
    "PriorityMaxAge=00:10:00",
    "PriorityCalcPeriod=1",
    "PriorityDecayHalfLife=00:10:00",
    "DebugFlags=Priority",
    "SlurmctldDebug=verbose",
    "LogTimeFormat=iso8601_ms",
    *(f"PriorityWeight{name}={weight}" for name, weight in WEIGHTS.items()),
    "PartitionName=wide Nodes=ALL PriorityJobFactor=10",
)
RECORDED = Path(__file__).with_name("recorded")


def _asked():
    """Waiting jobs as (user, partition, qos, nodes): all mixtures, sizes in turn."""
    mixtures = itertools.product(SHARES, PARTITIONS, QOS)
    return [(*mixture, 1 + i % NODES) for i, mixture in enumerate(mixtures)]


def record(setting, folder):
    """Let users use the machine, close it, let jobs wait, and note what sprio says; rows of COLUMNS."""
    from real_slurm.accounting import Accounted

    Path(folder).chmod(0o755)  # jobs of other users are launched from there
    with Accounted(folder, NODES, [*COMMON, *SETTINGS[setting]]) as cluster:
        for name in ("mid", "high"):
            cluster.manage("add", "qos", name, f"priority={QOS[name]}")
        for user, shares in SHARES.items():
            if user != "root":
                cluster.manage("add", "user", user, "account=root", f"fairshare={shares}", "qos=normal,mid,high")
        cluster.manage("modify", "user", "root", "set", "qos=normal,mid,high")

        def submit(name, user, nodes, seconds, *options):
            script = ["--wrap", f"sleep {seconds}", "-o", "/dev/null", "-D", "/tmp", "-t", "5"]
            answer = cluster._run("sbatch", f"--uid={user}", "-J", name, "-N", str(nodes), *options, *script)
            if answer.returncode:
                raise RuntimeError(f"sbatch refused {name}: {answer.stderr}")

        for i, (user, nodes, seconds) in enumerate(USED):
            submit(f"u{i}", user, nodes, seconds)
        while len(cluster.completed()) < len(USED):
            time.sleep(0.5)
        states = {words["JobState"] for words in cluster.completed().values()}
        if states != {"COMPLETED"}:
            raise RuntimeError(f"jobs that were to use the machine ended as {states}; see {folder}")
        cluster.run("scontrol", "update", f"nodename=n[0-{NODES - 1}]", "state=drain", "reason=closed")
        waiting = _asked()
        for i, (user, partition, qos, nodes) in enumerate(waiting):
            submit(f"w{i}", user, nodes, 10, "-p", partition, "--qos", qos)
        time.sleep(130)  # two periods
        factors = {line.split()[0]: line.split()[1:] for line in cluster.run(
            "sprio", "-h", "-o", "%i %A %F %J %P %Q %Y").splitlines()}  # fmt: skip
        queue = [line.split() for line in cluster.run("squeue", "-h", "-o", "%i %j %V").splitlines()]
        log, ended = (cluster.folder / "slurmctld.log").read_text(), cluster.completed()
    stamps = re.findall(r"^\[([^\]]+)\] .*Weighted Age priority", log, re.M)
    calculated = _seconds(stamps[-1])
    submitted = {name: (job, _seconds(when)) for job, name, when in queue}
    rows = [
        (
            i + 1, user, "main", "normal", nodes,
            *(_seconds(ended[f"u{i}"][word]) for word in ("SubmitTime", "StartTime", "EndTime")),
            *[""] * (len(WEIGHTS) + 1), calculated,
        )
        for i, (user, nodes, _) in enumerate(USED)
    ]  # fmt: skip
    for i, asked in enumerate(waiting):
        job, when = submitted[f"w{i}"]
        rows.append((len(USED) + i + 1, *asked, when, "", "", *factors[job], calculated))
    return rows


def _seconds(text):
    """Seconds since the epoch of a local time such as 2026-11-17T18:28:29.123."""
    whole, _, rest = text.partition(".")
    return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + (float(f"0.{rest}") if rest else 0.0)


class Watched(Forced):
    """Forced starts; remembers the priorities at a time."""

    def __init__(self, when, starts, **options):
        super().__init__(starts, [""] * len(starts), **options)
        self._when, self.priorities, self._waked = when, None, False

    def kernel(self):
        forced = super().kernel()

        def watched(state, params, memory, rng):
            forced(state, params, memory, rng)
            if not self._waked:
                self._waked = True
                act_wake(state, self._when)
            if state.clock[0]["now"] <= self._when:
                self.priorities = memory[1][: len(self._starts), Number.PRIORITY].copy()

        return watched


def computed(table, setting, **weights):
    """The priorities of all jobs as forebay computes them, at the time at which Slurm last did."""
    calculated, period = table["calculated"][0], 60.0
    origin = calculated - period * np.ceil((calculated - table["submit"].min()) / period + 1)
    submit, start = table["submit"] - origin, (table["start"] - origin).to_numpy().copy()
    start[np.isnan(start)] = calculated - origin + 60.0 + 20.0 * np.arange(np.isnan(start).sum())  # one by one
    charged = calculated - period * ((calculated - table["end"]) / period).ceil()
    codes = {name: list(names) for name, names in (("user", SHARES), ("queue", PARTITIONS), ("qos", QOS))}
    columns = {
        "id": range(1, len(table) + 1),
        "submit": submit,
        "run_time": (charged - table["start"]).fill_null(10.0),
        "walltime": [300.0] * len(table),
        "nodes": table["nodes"],
        "user": [codes["user"].index(one) for one in table["user"]],
        "queue": [codes["queue"].index(one) for one in table["partition"]],
        "qos": [codes["qos"].index(one) for one in table["qos"]],
    }
    policy = Watched(
        calculated - origin, start, PriorityType="multifactor", PriorityMaxAge=600.0,
        PriorityCalcPeriod=period, PriorityDecayHalfLife=600.0, NO_FAIR_TREE=setting == "no_fair_tree",
        shares=";".join(f"{i}={share}" for i, share in enumerate(SHARES.values())),
        PriorityJobFactor=";".join(f"{i}={value}" for i, value in enumerate(PARTITIONS.values())),
        qos=";".join(f"{i}={value}" for i, value in enumerate(QOS.values())), **weights,
    )  # fmt: skip
    fb.simulate(fb.Workload("recorded", job_table(columns)), f"flat:nodes={NODES}", policy)
    return policy.priorities


if __name__ == "__main__":
    setting = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        rows = record(setting, folder)
    write(RECORDED / f"priorities-{setting}.csv", COLUMNS, rows)
