"""What a check of a policy found."""

from dataclasses import dataclass
from typing import NamedTuple


class Check(NamedTuple):
    """One rule's outcome.

    Parameters
    ----------
    name
        Of the rule, as in RULES.
    ok
        Whether the policy keeps it.
    text
        The rule.
    """

    name: str
    ok: bool
    text: str


@dataclass(frozen=True)
class Report:
    """What a check found.

    Parameters
    ----------
    policy
        Its spec.
    checks
        One a rule.
    explanation
        Each breach with the smallest case that shows it; empty when all is well.
    """

    policy: str
    checks: list[Check]
    explanation: str

    @property
    def passed(self) -> bool:
        """Whether the policy keeps every rule."""
        return all(check.ok for check in self.checks)
