"""Processes of Python that begin with the compiler in use: forks of one that has come so far, which takes seconds.

All else is as in a new Python: its memory, environment and modules, what it prints, its exit code. How the compiler is
set up is not, so where the environment says that (NUMBA_...), or what is tried is the very first use, begin a new one.
"""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

FIRST = """
import sys
import numba
numba.njit('int64(int64)')(lambda x: x + 1)
sys.path.append(sys.argv[2])
import warm_python
sys.path.pop()
exec(warm_python.serve(int(sys.argv[1])))
"""
"""In the first process `serve` does not return; in each fork it does, with what is to be done there."""


def serve(number):
    """Fork for each request, until no process is left that could send one."""
    asking = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # `_watch` waits for forks
    while True:
        asked, given, _, _ = socket.recv_fds(asking, 1, 4)
        if not asked:
            os._exit(0)
        if not os.fork():
            asking.close()
            return _watch(socket.socket(fileno=given[0]), *given[1:])
        for one in given:
            os.close(one)


def _watch(told, request, *streams):
    """Tell the number of a process and, once it has ended, its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process:
        told.send(process.to_bytes(4))
        told.send(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]).to_bytes(4, signed=True))
        os._exit(0)
    told.close()
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    with open(request, encoding="utf-8") as lines:
        asked = json.load(lines)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv[1:] = asked["words"]
    return compile(asked["code"], "<string>", "exec")


class Running:
    """A process, with what tests use of subprocess.Popen."""

    returncode = None

    def __init__(self, told, streams):
        self._told, self._streams = told, streams
        self.pid = int.from_bytes(told.recv(4))

    def poll(self):
        """Its exit code, or None while it runs."""
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def wait(self, timeout=None):
        """Its exit code, once it has ended."""
        if self.returncode is None:
            self._told.settimeout(timeout)
            self.returncode = int.from_bytes(self._told.recv(4), signed=True)
            self._told.close()
        return self.returncode

    def communicate(self, timeout=None):
        """What it has written to stdout and stderr, once it has ended."""
        self.wait(timeout)
        written = []
        for stream in self._streams:
            with stream:
                stream.seek(0)
                written.append(stream.read().decode())
        return tuple(written)

    def kill(self):
        """End it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


@functools.cache
def _first():
    """Where to ask for others."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = [sys.executable, "-c", FIRST, str(theirs.fileno()), str(Path(__file__).parent)]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    atexit.register(lambda: (ours.close(), process.wait()))
    return ours


def start(code, *words, environment):
    """A process that runs this code, with these words behind its name."""
    ours, theirs = socket.socketpair()
    streams = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115 (`communicate` closes them)
    asked = {"code": code, "words": words, "environment": dict(environment), "folder": str(Path.cwd())}
    with theirs, tempfile.TemporaryFile() as request:
        request.write(json.dumps(asked).encode())
        request.seek(0)
        socket.send_fds(_first(), [b"."], [one.fileno() for one in (theirs, request, *streams)])
    return Running(ours, streams)


def run(code, *words, environment):
    """It, ended: its exit code, and what it wrote to stdout and stderr."""
    running = start(code, *words, environment=environment)
    out, errors = running.communicate(timeout=120)
    return subprocess.CompletedProcess(words, running.returncode, out, errors)
