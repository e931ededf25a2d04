"""Windows whose queue is in the order of multifactor priorities: `bbsched:order=fairshare`."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from forebay.errors import InputError
from forebay.policies._families.multifactor import Weighted
from forebay.policies._families.window.parameters import Windowed

OF_SITE = "slurm"
RANKS = ("multifactor", "fairshare", OF_SITE)
"""Weights of the policy of that name, or those of the site's own `slurm`."""
_NOTED = 2  # rows of what windows note: see Windowed.memory


@dataclass(frozen=True)
class Ranked(Weighted, Windowed):
    """As Windowed, but for the order of the queue."""

    compiled: ClassVar[str] = "window_by_priority.choose_window"
    blocks: ClassVar[tuple[str, ...]] = ("ranked_points", "ranked_starts")
    orders: ClassVar[tuple[str, ...]] = RANKS

    order: str = "multifactor"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        super().__post_init__()
        self.check_weights()

    def with_site_policy(self, site: Any, machine: str) -> Self:
        """The same with the weights of the site's policy, where the order is that policy's."""
        if self.order != OF_SITE:
            return self
        weights = [field.name for field in dataclasses.fields(Weighted)]
        given = [field.name for field in dataclasses.fields(Weighted) if getattr(self, field.name) != field.default]
        if given:
            raise InputError(f"order=slurm takes the site's weights: leave {given[0]} out, or give order=multifactor")
        if not isinstance(site, Weighted):
            raise InputError(
                f"order=slurm: {machine} brings no weights, as its file has no policy such as "
                '"slurm:PriorityType=multifactor,PriorityWeightAge=1000"; give order=multifactor with weights'
            )
        if getattr(site, "PriorityType", "multifactor") == "basic":
            raise InputError(
                f"order=slurm: {machine} brings no weights, as its policy has PriorityType=basic: jobs go in order of "
                "arrival; leave order out, or give order=multifactor with weights"
            )
        taken: dict[str, Any] = {name: getattr(site, name) for name in weights}
        return dataclasses.replace(self, order="multifactor", **taken)

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The row of numbers that the kernel reads: how many are those of windows, these, then the weights."""
        own = super().params_on(resources)
        return np.concatenate([[len(own)], own, Weighted.weights(self)])

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Usage and priorities, and in the last rows what windows note."""
        (rows, columns), floats = self.remembered(n_jobs)
        return (rows + -(-_NOTED * max(n_jobs, _NOTED) // columns), columns), floats

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """Whether exact search gave up anywhere, and how many charges are not in the tree."""
        noted = memory[0][len(memory[1]) :].reshape(-1)
        counts = noted[len(noted) // _NOTED :]
        return [*self._gave_up(int(counts[0]), int(counts[1])), *Weighted.remarks(self, memory)]
