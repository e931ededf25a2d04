"""Which lines of a policy's own file ran: by Python's monitoring, or by tracing where there is none (Python 3.11)."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from types import CodeType, FrameType, TracebackType
from typing import Any


@dataclass(frozen=True)
class Lines:
    """Lines of a policy that can run, and those that never did.

    Parameters
    ----------
    file
        The file of the policy.
    all
        Their numbers, ascending.
    never
        Those that ran in no case.
    """

    file: str
    all: tuple[int, ...]
    never: tuple[int, ...]

    def text(self) -> str:
        """`12 of 40 lines never ran: 31-38, 52`, or that all of them ran."""
        if not self.never:
            return f"all lines ran ({len(self.all)})"
        gone, parts = set(self.never), []
        for never, some in groupby(self.all, gone.__contains__):
            run = [*some]
            if never:
                parts.append(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}")
        return f"{len(self.never)} of {len(self.all)} lines never ran: {', '.join(parts)}"


def lines_of(codes: Iterable[CodeType]) -> set[int]:
    """The lines that can run, without those of `def`."""
    found: set[int] = set()
    for code in codes:
        body = {line for _, _, line in code.co_lines() if line}
        found |= body - {code.co_firstlineno} or body
    return found


class Watch:
    """A context in which lines of some code are noted as they run."""

    def __init__(self, codes: Iterable[CodeType]):
        self._codes = {*codes}
        self.ran: set[int] = set()

    def __enter__(self) -> "Watch":
        if self._codes:
            self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._codes:
            self._end()

    def _begin(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._enter)

    def _end(self) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._step if frame.f_code in self._codes else None

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.ran.add(frame.f_lineno)
        return self._step


class Monitor(Watch):
    """The same by `sys.monitoring`, from Python 3.12 on: each line is reported once, and costs nothing afterwards."""

    def _begin(self) -> None:
        watching: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        free = [tool for tool in range(5, -1, -1) if watching.get_tool(tool) is None]
        self._tool = free[0] if free else -1
        if free:
            watching.use_tool_id(self._tool, "forebay check-policy")
            watching.register_callback(self._tool, watching.events.LINE, self._note)
            for code in self._codes:
                watching.set_local_events(self._tool, code, watching.events.LINE)

    def _note(self, code: CodeType, line: int) -> Any:
        self.ran.add(line)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _end(self) -> None:
        if self._tool >= 0:
            watching: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
            for code in self._codes:
                watching.set_local_events(self._tool, code, 0)
            watching.register_callback(self._tool, watching.events.LINE, None)
            watching.free_tool_id(self._tool)


def watch(codes: Iterable[CodeType]) -> Watch:
    """What notes lines in this Python."""
    return Monitor(codes) if hasattr(sys, "monitoring") else Watch(codes)
