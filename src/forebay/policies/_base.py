"""What a policy is: something that reads a View and writes Actions, in plain Python or as a compiled kernel."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from forebay.core.view import Actions, View


class Policy:
    """Base of every policy. Override `decide` (plain Python) or `kernel` (compiled): nothing else tells them apart.

    Parameters are dataclass fields or keyword arguments; `name:key=value` on the command line sets them.
    """

    needs_tiers: ClassVar[bool] = False
    """Whether it is of use only where jobs may run on several tiers of storage."""

    def setup(self, view: "View") -> None:
        """Called once before a run's first decision: forget the last run here."""

    def decide(self, view: "View", act: "Actions") -> None:
        """Called once an instant: read the view, act."""
        raise NotImplementedError

    def kernel(self) -> Any:
        """A compiled `decide(state, params, memory, rng)`, see `forebay.policy_kernel`; None = use `decide`."""
        return None

    def params(self) -> np.ndarray:
        """The numbers a kernel reads."""
        return np.zeros(0)

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same on a machine with these resources, for policies whose parameters name some."""
        return self.params()

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """What a reader of the result should know, a sentence each, from what a kernel remembers at the end."""
        return []

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Shapes of the int64 and float64 tables that a kernel keeps between decisions; zeroed before each run."""
        return (0, 0), (0, 0)
