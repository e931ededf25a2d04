"""ElastiSim's algorithm.py run unchanged: a module named like theirs hands `schedule` to a run of ours."""

import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from forebay.elastisim import algorithm
from forebay.elastisim.algorithm import Schedule
from forebay.errors import InputError

MODULE = "elastisim_python"
_NAMES = ("InvocationType", "Job", "JobState", "JobType", "Node", "NodeState", "NodeType")


def run_script(path: Path, run: Callable[[Schedule], None], url: str = "") -> None:
    """Run the file as ElastiSim's users do, with the address that they pass; its `pass_algorithm` calls `run`."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; name the algorithm with --algorithm algorithm.py, or a --policy")
    called: list[bool] = []

    def pass_algorithm(schedule: Schedule, *_: Any, **__: Any) -> None:
        called.append(True)
        run(schedule)

    with _as_script(path, url, pass_algorithm):
        runpy.run_path(str(path), run_name="__main__")
    if not called:
        raise InputError(f"{path}: never calls pass_algorithm(schedule, url), so there is nothing to ask")


@contextmanager
def _as_script(path: Path, url: str, pass_algorithm: Callable[..., None]) -> Iterator[None]:
    """Arguments, path and modules as a script finds them; as they were, afterwards."""
    module = ModuleType(MODULE)
    for name in _NAMES:
        setattr(module, name, getattr(algorithm, name))
    module.pass_algorithm = pass_algorithm  # type: ignore[attr-defined]
    before, arguments, known = sys.path[:], sys.argv, set(sys.modules)
    theirs = sys.modules.get(MODULE)
    sys.modules[MODULE], sys.argv = module, [str(path), url]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        yield
    finally:
        sys.path[:], sys.argv = before, arguments
        folders = {str(path.parent.resolve()), str(path.parent.parent.resolve())}
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and str(Path(file).resolve().parent) in folders:  # helpers of this one algorithm
                del sys.modules[name]
        del sys.modules[MODULE]
        if theirs is not None:
            sys.modules[MODULE] = theirs
