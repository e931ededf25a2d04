"""What a user's last jobs took, each as likely."""

from dataclasses import dataclass

from forebay.learn._base import Asked, Likely, by_request, within
from forebay.learn._users import Users


@dataclass
class UserMedian(Users):
    """The run times of the user's last jobs, each as likely as the others; their median is the prediction."""

    last: int = 20

    def likely(self, asked: Asked) -> Likely:
        """The last ones; the walltime of a user who is new."""
        known = self.known(asked)
        return within(Likely.of(known or [by_request(asked.walltime)]), asked.walltime)
