"""The tier of storage is drawn when a job comes, fast with probability p; what SAS is compared with (2019)."""

from dataclasses import dataclass
from typing import ClassVar

from forebay.errors import InputError
from forebay.policies._families.tiers import Tiering


@dataclass(frozen=True)
class TierRandom(Tiering):
    """A job that cannot use the tier drawn for it runs on the slow one."""

    p: float = 0.5  # of a fast tier; where there are several, each is as likely as the next

    choice: ClassVar[str] = "drawn"

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        super().__post_init__()
        if not 0 <= self.p <= 1:
            raise InputError(f"p is {self.p:g}; give a probability from 0 to 1")
