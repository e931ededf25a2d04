"""The mean of a user's last two run times, after Tsafrir, Etsion & Feitelson (2007)."""

from dataclasses import dataclass

from forebay.learn._base import Asked, Likely, by_request, within
from forebay.learn._users import Users


@dataclass
class LastTwo(Users):
    """The mean of the run times of the user's last two jobs, after Tsafrir, Etsion & Feitelson (2007): one number."""

    last: int = 2

    def likely(self, asked: Asked) -> Likely:
        """Their mean; the walltime of a user who is new."""
        known = self.known(asked) or [by_request(asked.walltime)]
        return within(Likely.of([sum(known) / len(known)]), asked.walltime)
