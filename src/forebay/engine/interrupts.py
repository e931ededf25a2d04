"""Ctrl-C in a run. Python runs signal handlers whenever it runs at all, and so also where compiled code has called it.

What a handler raises there would be lost, and the call with it: a buffer that should have been emptied is then written
past its end. So signals are noted, and handled where the run pauses, or in a policy written in Python.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Holds signals back while a context lasts. In other threads than the main one no handler ever runs."""

    def __init__(self) -> None:
        self.welcome = False  # whether handlers may raise now
        self.raised = False  # whether one has done so
        self._handlers: dict[int, Any] = {}
        self._noted: list[int] = []

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if callable(signal.getsignal(number)):
                    self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if error is None:
            self.check()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.welcome:
            self.raised = True
            self._handlers[number](number, frame)
            self.raised = False
        else:
            self._noted.append(number)

    @property
    def noted(self) -> bool:
        """Whether any waits to be handled."""
        return bool(self._noted)

    def check(self) -> None:
        """Handle what was noted: with the usual handlers this raises."""
        while self._noted:
            number = self._noted.pop(0)
            self._handlers[number](number, None)
