"""What a policy is: something that reads a View and writes Actions, in plain Python or as a compiled kernel."""

from collections.abc import Iterable
from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from forebay.errors import InputError, nearest

if TYPE_CHECKING:
    from forebay.core.actions import Actions
    from forebay.core.tables import State
    from forebay.core.view import View


def lay(names: type[IntEnum], **values: float) -> np.ndarray:
    """The row of numbers that a kernel reads: each value at the place of its name. One too many or too few is a bug."""
    wanted = [name.name.lower() for name in sorted(names)]
    if sorted(wanted) != sorted(values):
        raise TypeError(f"{names.__qualname__} has {', '.join(wanted)}; given are {', '.join(values)}")
    return np.array([values[name] for name in wanted], np.float64)


def one_of(policy: object, **known: Iterable[str]) -> None:
    """Refuse a parameter whose word is none of those known, by its name."""
    for name, words in known.items():
        given = getattr(policy, name)
        if given not in words:
            raise InputError(f"{name} is {given!r}: {nearest(given, words)}")


class Policy:
    """Base of every policy. Override `decide` (plain Python) or `kernel` (compiled): nothing else tells them apart.

    Parameters of a policy are dataclass fields or keyword arguments; `name:key=value` on the command line sets them.

    Examples
    --------
    >>> class Smallest(fb.Policy):
    ...     def decide(self, view, act):
    ...         for job in sorted(view.queue, key=lambda job: view.demand(job)[0]):
    ...             if act.fits(job):
    ...                 act.start(job)
    >>> fb.simulate("table1", policy=Smallest())
    <Result of Smallest: 8 jobs on 4 nodes, mean wait 2.38 min>
    """

    compiled: ClassVar[str] = ""
    """The kernel that decides, room.file.function of policies/_kernels; empty = `decide` does, or `kernel` names it."""
    resizes: ClassVar[bool] = False
    """Whether it is called at scheduling points and may resize jobs. Others run them at their preferred sizes."""
    needs_tiers: ClassVar[bool] = False
    """Whether it is of use only where jobs may run on several tiers of storage."""
    needs_files: ClassVar[bool] = False
    """Whether it is of use only where the machine has a file system."""

    needs: ClassVar[tuple[str, ...]] = ()
    """("io",) = it asks what running jobs, links and tiers do: `view.activity`, `state.io`. It costs some time."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Columns of numbers of the workload that a kernel reads, in this order: `state.columns[job, k]`."""
    codes: ClassVar[tuple[str, ...]] = ()
    """Columns of text behind them, as codes: 0, 1, ... in order of the words; -1 = unknown."""

    steers: ClassVar[bool] = False
    """Whether it weighs, holds or caps transfers: `act.io_weight` and its like."""
    known: str | None = None
    """What it knows of jobs' I/O, `view.io` and `state.known_io`: "exact", "stated" or "learned"; None = nothing."""

    @property
    def needs_times(self) -> bool:
        """Whether it asks how long jobs take alone on the machine, as their applications tell."""
        return False

    def setup(self, view: "View") -> None:
        """Called once before a run's first decision: forget the last run here."""

    def decide(self, view: "View", act: "Actions") -> None:
        """Called once an instant: read the view, act."""
        raise NotImplementedError

    def kernel(self) -> Any:
        """A compiled `decide(state, params, memory, rng)`, see `forebay.policy_kernel`; None = use `decide`."""
        if not self.compiled:
            return None
        file, _, function = self.compiled.rpartition(".")
        return getattr(import_module(f"forebay.policies._kernels.{file}"), function)

    def params(self) -> np.ndarray:
        """The numbers a kernel reads."""
        return np.zeros(0)

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same on a machine with these resources, for policies whose parameters name some."""
        return self.params()

    def check(self, state: "State") -> None:
        """Called once before a compiled policy's first decision: refuse a machine on which it makes no sense."""

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """What a reader of the result should know, a sentence each, from what a kernel remembers at the end."""
        return []

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Shapes of the int64 and float64 tables that a kernel keeps between decisions; zeroed before each run."""
        return (0, 0), (0, 0)

    def memory_on(self, state: "State") -> tuple[tuple[int, int], tuple[int, int]]:
        """The same on a machine that is known, for policies that keep more where it has more."""
        return self.memory(len(state.jobs), len(state.resources))
