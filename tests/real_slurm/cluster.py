"""A throw-away Slurm on this machine: munged, slurmctld and virtual nodes, without systemd, all in one folder.

Only the processes started here are ended. As `auth/munge` uses a socket of its own, several can run side by side.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")


def missing():
    """The programs of Slurm that are not installed: see scripts/install_slurm.sh."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Real Slurm with `nodes` nodes of one core, as a context: up on entry, ended on exit."""

    def __init__(self, folder, nodes=8, scheduler="", extra=()):
        self.folder, self.nodes = Path(folder).resolve(), nodes
        self._scheduler, self._extra, self._started = scheduler, list(extra), []
        self._env = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))

    def _conf(self, ports):
        user, host, folder = pwd.getpwuid(os.getuid()).pw_name, socket.gethostname().split(".")[0], self.folder
        lines = [
            "ClusterName=mini",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            f"SlurmUser={user}",
            f"SlurmdUser={user}",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "MpiDefault=none",
            "SwitchType=switch/none",
            "ReturnToService=2",
            f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool/%n",
            f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={folder}/slurmctld.log",
            f"SlurmdLogFile={folder}/slurmd-%n.log",
            "SlurmdTimeout=300",
            "KillWait=2",
            "MinJobAge=3600",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "SchedulerType=sched/backfill",
            f"SchedulerParameters={self._scheduler}",
            *self._accounting(),
            "JobCompType=jobcomp/filetxt",
            f"JobCompLoc={folder}/completed.txt",
            "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge.socket",
            "CredType=cred/munge",
            *self._extra,
            *(
                f"NodeName=n{i} NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[1 + i]} CPUs=1 RealMemory=1000"
                for i in range(self.nodes)
            ),
            "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO",
        ]
        return "\n".join(lines) + "\n"

    def _environment(self):
        """Of each process that is started."""
        return self._env

    def _accounting(self):
        """Lines on where Slurm keeps accounts."""
        return ["AccountingStorageType=accounting_storage/none"]

    def _before_controller(self):
        """Start what the controller needs beside munged."""

    def _background(self, name, *command):
        with open(self.folder / f"{name}.out", "w") as out:
            process = subprocess.Popen(
                command,
                env=self._environment(),
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._started.append((name, process))

    def __enter__(self):
        folder = self.folder
        for part in ("state", "spool"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "slurm.conf").write_text(self._conf(free_ports(self.nodes + 1)))
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log"}
        options = [f"--{option}={folder / file}" for option, file in {**files, "seed-file": "munge.seed"}.items()]
        try:
            self._background("munged", "munged", "-F", "--force", *options)
            self._wait((folder / "munge.socket").exists, "munged")
            self._before_controller()
            self._background("slurmctld", "slurmctld", "-D", "-c")
            for i in range(self.nodes):
                self._background(f"slurmd-n{i}", "slurmd", "-D", "-N", f"n{i}")
            self._wait(lambda: len(self._idle()) == self.nodes, "its nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _idle(self):
        """The nodes that are idle; those of several partitions are told more than once."""
        states = (line.split() for line in self.run("sinfo", "-h", "-N", "-o", "%N %T").splitlines())
        return {name for name, state in states if state == "idle"}

    def _wait(self, done, what, seconds=60):
        until = time.monotonic() + seconds
        while not done():
            gone = [name for name, process in self._started if process.poll() is not None]
            if gone or time.monotonic() > until:
                raise RuntimeError(
                    f"Slurm does not come up, waiting for {what}; ended: {gone}; see {self.folder}/*.out"
                )
            time.sleep(0.1)

    def run(self, *command):
        """What a command of Slurm prints."""
        return self._run(*command).stdout

    def _run(self, *command):
        return subprocess.run(command, env=self._environment(), capture_output=True, text=True, timeout=60, check=False)

    def submit(self, name, nodes, minutes, seconds, licenses=0, *options):
        """Submit a job that sleeps so long."""
        asked = [*(["-L", f"bb:{licenses}"] if licenses else []), *options]
        script = f"sleep {seconds}"
        command = ["sbatch", "-J", name, "-N", str(nodes), "-t", str(minutes), "-o", "/dev/null", "-D", "/tmp", *asked]
        answer = self._run(*command, "--wrap", script)
        if answer.returncode < 0:  # ended by a signal, before it could ask: seen under libfaketime
            answer = self._run(*command, "--wrap", script)
        if answer.returncode:
            raise RuntimeError(f"sbatch refused {name}: {answer.stderr}")

    def completed(self):
        """What is recorded of ended jobs: name -> its words, such as SubmitTime, StartTime, EndTime, JobState."""
        file, rows = self.folder / "completed.txt", {}
        for line in file.read_text().splitlines() if file.exists() else ():
            words = dict(word.split("=", 1) for word in line.split() if "=" in word)
            rows[words["Name"]] = words
        return rows

    def __exit__(self, *_):
        """End the jobs first, or their processes outlive the cluster; then the daemons, munged last."""
        user = pwd.getpwuid(os.getuid()).pw_name
        if len(self._started) > 1:
            self.run("scancel", "-u", user)
            until = time.monotonic() + 6
            while time.monotonic() < until and self.run("squeue", "-h").strip():
                time.sleep(0.1)
        for _, process in reversed(self._started):
            process.send_signal(signal.SIGTERM)
        for _, process in reversed(self._started):
            try:
                process.wait(8)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._started = []
