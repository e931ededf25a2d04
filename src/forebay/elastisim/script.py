"""ElastiSim's algorithm.py run unchanged: a module named like theirs hands `schedule` to a run of ours."""

import gc
import io
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from forebay._support.reading import check_regular
from forebay.elastisim import interface
from forebay.elastisim.algorithm import Schedule
from forebay.errors import ForebayError, InputError, PolicyRaisedError

MODULE = "elastisim_python"
_NAMES = ("Gpu", "GpuState", "InvocationType", "Job", "JobState", "JobType", "Node", "NodeState", "NodeType")


def run_script(path: Path, run: Callable[[Schedule], None], url: str = "") -> None:
    """Run the file as ElastiSim's users do, with the address that they pass; its `pass_algorithm` calls `run`."""
    check_regular(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; name the algorithm with --algorithm FILE, or a policy with --policy")
    called: list[bool] = []

    def pass_algorithm(schedule: Schedule, *_: Any, **__: Any) -> None:
        if called:
            raise InputError(f"{path}: calls pass_algorithm twice; a project is run once")
        called.append(True)
        run(schedule)
        _write_out()

    with _as_script(path, url, pass_algorithm):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except PolicyRaisedError as error:
            raise _told(path, error.__cause__ or error) from error
        except ForebayError:
            raise
        except SystemExit as error:
            if not called:
                raise _told(path, error) from error
        except Exception as error:
            raise _told(path, error) from error
        _write_out()
    if not called:
        raise InputError(f"{path}: never calls pass_algorithm(schedule, url), so there is nothing to ask")


def _told(path: Path, error: BaseException) -> InputError:
    """What a script raised: in which of its lines, and what."""
    folders = _folders(path)
    lines = [
        f"{frame.filename}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if str(Path(frame.filename).resolve().parent) in folders
    ]
    if isinstance(error, SyntaxError):
        lines.append(f"{error.filename}:{error.lineno}")
        error = SyntaxError(error.msg)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return InputError(f"{lines[-1] if lines else path}: the algorithm raised {' '.join(what.split())}")


def _folders(path: Path) -> set[str]:
    """Where a script's own files are: beside it, and above."""
    return {str(path.parent.resolve()), str(path.parent.parent.resolve())}


def _write_out() -> None:
    """Let files that the script has left open have what was written to them, as they would when its process ends.

    Garbage collection would not: of a file in a cycle it may close the lower half first.
    """
    for file in gc.get_objects():
        if type(file) is io.TextIOWrapper and not file.closed and file.writable():
            with suppress(OSError):
                file.flush()


@contextmanager
def _as_script(path: Path, url: str, pass_algorithm: Callable[..., None]) -> Iterator[None]:
    """Arguments, path and modules as a script finds them; as they were, afterwards."""
    module = ModuleType(MODULE)
    for name in _NAMES:
        setattr(module, name, getattr(interface, name))
    module.pass_algorithm = pass_algorithm  # type: ignore[attr-defined]
    before, arguments, known = sys.path[:], sys.argv, set(sys.modules)
    theirs = sys.modules.get(MODULE)
    sys.modules[MODULE], sys.argv = module, [str(path), url]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        yield
    finally:
        sys.path[:], sys.argv = before, arguments
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and str(Path(file).resolve().parent) in _folders(path):  # helpers of this one algorithm
                del sys.modules[name]
        del sys.modules[MODULE]
        if theirs is not None:
            sys.modules[MODULE] = theirs
