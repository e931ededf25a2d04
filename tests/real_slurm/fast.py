"""A throw-away Slurm whose clock runs several times as fast: libfaketime under its daemons, commands and jobs."""

import json
import time
from pathlib import Path

from forebay._live.commands import Slurm
from real_slurm.cluster import Cluster, missing

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


def lacking():
    """What is not installed of this."""
    return [*missing(), *([] if LIBRARIES else ["libfaketime"])]


class Clock:
    """Goes so many times as fast as ours, from now on. Processes agree on it, whenever they begin."""

    def __init__(self, speed, begun=None):
        self.speed, self.begun = speed, time.time() if begun is None else begun

    def now(self):
        return self.begun + self.speed * (time.time() - self.begun)

    def sleep_until(self, moment):
        time.sleep(max(0.0, moment - self.now()) / self.speed)

    def variables(self):
        """For a process that begins now."""
        ahead = (self.speed - 1) * (time.time() - self.begun)
        return {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME": f"+{ahead:.3f}s x{self.speed}",
            "FAKETIME_DONT_RESET": "1",
        }


class Fast(Cluster):
    """The cluster, so fast."""

    def __init__(self, folder, nodes=8, scheduler="", extra=(), speed=20):
        super().__init__(folder, nodes, scheduler, extra)
        self.clock = Clock(speed)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "clock.json").write_text(json.dumps([self.clock.speed, self.clock.begun]))

    def _environment(self):
        return self._env | self.clock.variables()

    def __exit__(self, *about):
        super().__exit__(*about)
        # What the library leaves trips later processes of the same number; while others run, it may be theirs.
        left = {file: file.name.rpartition("_")[2] for file in Path("/dev/shm").glob("*faketime_*")}
        if not any(Path(f"/proc/{number}").exists() for number in left.values()):
            for file in left:
                file.unlink(missing_ok=True)


class FastSlurm(Slurm):
    """The commands on that clock."""

    def __init__(self, cluster_folder, limit=10.0):
        super().__init__(limit)
        folder = Path(cluster_folder)
        speed, begun = json.loads((folder / "clock.json").read_text())
        object.__setattr__(self, "clock", Clock(speed, begun))
        object.__setattr__(self, "conf", str(folder / "slurm.conf"))

    def now(self):
        return self.clock.now()

    def sleep(self, seconds):
        time.sleep(max(seconds, 0.0) / self.clock.speed)

    def environment(self):
        return super().environment() | {"SLURM_CONF": self.conf} | self.clock.variables()
