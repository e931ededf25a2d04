"""Jobs of Slurm that were to be workers, watched until their workers are there.

Dask asks for another job where a worker that it has seen is lost. Of a job that is cancelled while it waits, or ends
before its worker has said a word, it never hears: the sweep would wait for it until somebody stops it.
"""

import getpass
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from forebay.errors import InputError

EVERY = 15.0
"""Seconds between two looks at the queue. A job is gone that two looks in a row do not find."""
TRIES = 5
"""Jobs that may end one after the other without a worker, before it is no use to ask for more."""


class LostJobWarning(UserWarning):
    """A job of Slurm ended before its worker was there."""


class Watch:
    """What has become of the jobs of a cluster of dask-jobqueue."""

    def __init__(self, cluster: Any):
        self._cluster = cluster
        self._missing: set[str] = set()
        self._lost = 0
        self._over = threading.Event()
        self.hopeless = ""  # why it is no use to wait
        self.give_up: Callable[[], None] = lambda: None  # called when it is

    def look(self) -> None:
        """Ask for another job in place of each that is gone without its worker."""
        there = {str(one["name"]) for one in self._cluster.scheduler_info["workers"].values()}
        awaited = {
            name: str(job.job_id)
            for name, job in list(self._cluster.workers.items())
            if getattr(job, "job_id", None) and str(name) not in there
        }
        if there:
            self._lost = 0
        queue = _queue() if awaited else set()
        if queue is None:  # Slurm does not answer now
            return
        missing = {number for number in awaited.values() if number not in queue}
        for name, number in awaited.items():
            if number in missing & self._missing:
                self._replace(name, number)
        self._missing = missing

    def _replace(self, name: Any, number: str) -> None:
        self._lost += 1
        what = f"Slurm's job {number} ended before its worker was there"
        if self._lost >= TRIES:
            self.hopeless = (
                f"{what}, as did {TRIES - 1} before it; look at what it wrote (slurm-{number}.out), and whether its "
                "nodes have this Python and reach this machine"
            )
            self._over.set()
            self.give_up()
            return
        warnings.warn(f"{what}: another is asked for", LostJobWarning, stacklevel=2)
        cluster = self._cluster

        def again() -> Any:
            cluster.workers.pop(name, None)  # what is wanted and not there is asked for
            return cluster._correct_state()

        cluster.loop.add_callback(again)

    def _follow(self) -> None:
        while not self._over.wait(EVERY):
            with suppress(RuntimeError, KeyError):  # tables of the cluster change meanwhile: at the next look
                self.look()

    @contextmanager
    def running(self) -> Iterator["Watch"]:
        """Look now and then, beside whatever else goes on."""
        thread = threading.Thread(target=self._follow, name="slurm jobs", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()

    def check(self) -> None:
        """Say so where it is no use to wait."""
        if self.hopeless:
            raise InputError(self.hopeless)


def _queue() -> set[str] | None:
    """Numbers of the user's jobs that wait or run; None where Slurm does not say."""
    command = ["squeue", "--noheader", "--format=%A", f"--user={getpass.getuser()}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return set(answer.stdout.split())
