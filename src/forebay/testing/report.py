"""What a check of a policy found."""

from dataclasses import dataclass
from typing import NamedTuple


class Check(NamedTuple):
    """One rule's outcome."""

    name: str
    ok: bool
    text: str


@dataclass(frozen=True)
class Report:
    """What a check found."""

    policy: str
    checks: list[Check]
    explanation: str  # empty when all is well

    @property
    def passed(self) -> bool:
        """Whether the policy keeps every rule."""
        return all(check.ok for check in self.checks)
