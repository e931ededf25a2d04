"""Ctrl-C in a run. Python runs signal handlers whenever it runs at all, and so also where compiled code has called it.

What a handler raises there would be lost, and the call with it: a buffer that should have been emptied is then written
past its end. So signals are noted, and handled where the run pauses, where a kernel has read that one came, or in a
policy written in Python.

Kernels read it from memory: what Python writes to its wakeup file at every signal goes to a file that is mapped there.
"""

import _signal  # type: ignore[import-not-found] # `signal` looks all handlers up by name, in twice the time
import mmap
import os
import signal
import tempfile
import threading
import weakref
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from forebay._numba.bridge import Callback
from forebay.core.stopping import ROOM, SIGNALS

_NOBODY = -1


class _Bell:
    """A file in memory to which a signal writes its number, and where that is."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.file = os.memfd_create("forebay") if hasattr(os, "memfd_create") else _nameless()
        os.write(self.file, bytes(ROOM))  # a page that is really there: a disk may be full
        os.lseek(self.file, 0, os.SEEK_SET)
        os.set_blocking(self.file, False)  # as Python asks for
        self._bytes = mmap.mmap(self.file, ROOM)
        self.address = int(np.frombuffer(self._bytes, np.uint8).ctypes.data)

    def hush(self, other: int) -> None:
        """Forget what was written, and hand it on to who would have got it."""
        if not self._bytes[0]:
            return
        os.lseek(self.file, 0, os.SEEK_SET)
        waiting = self._bytes[:].rstrip(b"\0")
        self._bytes[: len(waiting)] = bytes(len(waiting))
        if other not in (_NOBODY, self.file):
            with suppress(OSError):  # its buffer is full, as Python would find too
                os.write(other, waiting)


def _nameless() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


_bells: list[_Bell] = []


def _bell() -> _Bell:
    """The one of this process."""
    if not _bells or _bells[0].process != os.getpid():
        _bells[:] = [_Bell()]
    return _bells[0]


class Interrupts:
    """Holds signals back while a context lasts, which may be within another. In other threads than the main one no
    handler ever runs."""

    def __init__(self, clock: np.ndarray) -> None:
        self.welcome = False  # whether handlers may raise now
        self.raised = False  # whether one has done so
        self._clock = clock  # of the run
        self._handlers: dict[int, Any] = {}
        self._noted: list[int] = []
        self._failed: list[BaseException] = []
        me = weakref.ref(self)  # else a run's tables would wait for the garbage collector
        self._callback = Callback(lambda: _look_up(me()))
        self._before: tuple[int, int, int] | None = None  # the file signals were written to, and what the clock had

    def __enter__(self) -> "Interrupts":
        self._handlers, self.raised = {}, False
        if threading.current_thread() is threading.main_thread():
            try:
                self._listen()
            except BaseException as error:  # of a signal that has come before all was in place
                self.__exit__(type(error), error, None)
                raise
        return self

    def _listen(self) -> None:
        clock, bell = self._clock[0], _bell()
        file = signal.set_wakeup_fd(bell.file, warn_on_full_buffer=False)
        self._before = file, int(clock["signals"]), int(clock["look_up"])
        clock["look_up"], clock["signals"] = self._callback.address, bell.address
        for number in SIGNALS:
            handler = _signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                _signal.signal(number, self._note)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hush()
        if self._before is not None:
            clock = self._clock[0]
            file, clock["signals"], clock["look_up"] = self._before
            clock["stop"], self._before = 0, None
            signal.set_wakeup_fd(file, warn_on_full_buffer=False)
        for number, handler in self._handlers.items():
            _signal.signal(number, handler)
        if error is None:
            self.check()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.welcome:
            self.raised = True
            self._handlers[number](number, frame)
            self.raised = False
        else:
            self._noted.append(number)

    def look_up(self) -> None:
        """What kernels call when a signal has come. Only if its handler raises do they stop."""
        try:
            self._hush()
            self._handle()
        except BaseException as error:  # it must not cross compiled code
            self._failed.append(error)
            self._clock["stop"] = 1

    def _hush(self) -> None:
        if self._before is not None:
            _bell().hush(self._before[0])

    def _handle(self) -> None:
        while self._noted:
            number = self._noted.pop(0)
            self._handlers[number](number, None)

    def check(self) -> None:
        """Handle what was noted, where a run pauses: with the usual handlers this raises."""
        self._hush()
        if self._failed:
            raise self._failed.pop()
        self._handle()


def _look_up(interrupts: Interrupts | None) -> None:
    if interrupts is not None:
        interrupts.look_up()
