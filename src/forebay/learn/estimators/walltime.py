"""Nothing is learned: jobs take as long as their users ask for."""

from dataclasses import dataclass

from forebay.learn._base import Asked, Likely, by_request


@dataclass
class Walltime:
    """The walltime, as schedulers plan: what others are held against."""

    def learn(self, asked: Asked, seconds: float) -> None:
        """Nothing."""

    def likely(self, asked: Asked) -> Likely:
        """The walltime."""
        return Likely.of([by_request(asked.walltime)])
