"""What the last jobs of each user took."""

from collections import deque
from dataclasses import dataclass, field

from forebay.errors import InputError
from forebay.learn._base import Asked


@dataclass
class Users:
    """A memory of the last run times of each user, for estimators that need no more."""

    last: int = 2  # how many run times of a user are kept
    _of: dict[int, deque[float]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.last < 1:
            raise InputError(f"last is {self.last}; give a count from 1 up")

    def learn(self, asked: Asked, seconds: float) -> None:
        """Users who are not known count as one."""
        self._of.setdefault(asked.user, deque(maxlen=self.last)).append(seconds)

    def known(self, asked: Asked) -> list[float]:
        """The last run times of the job's user."""
        return list(self._of.get(asked.user, ()))
