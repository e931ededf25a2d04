"""What a check of a policy found."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from forebay._support.text import counted
from forebay.core.codes import Trigger, Verb
from forebay.testing.lines import Lines


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
class Tried:
    """What a policy did in the cases that it was tried on, and what it met.

    Parameters
    ----------
    cases
        How many.
    verbs
        How often it used each: "start", "resize", ...
    triggers
        What it was called for: "submit", "job ended", ...
    lines
        Which lines of its own file ran; None for a policy without a file of its own.
    """

    cases: int
    verbs: Mapping[str, int]
    triggers: tuple[str, ...]
    lines: Lines | None

    @property
    def complete(self) -> bool:
        """Whether every line of the policy ran, as far as that is known."""
        return self.lines is None or not self.lines.never

    def text(self) -> str:
        """All of it, in a few lines."""
        unmet = [name for name in (_words(trigger) for trigger in Trigger) if name not in self.triggers]
        never = f"; never for: {', '.join(unmet)}" if unmet else ""
        lines = [
            f"tried on {counted(self.cases, 'case')}; used: {', '.join(self.verbs) or 'no verb'}",
            f"called for: {', '.join(self.triggers) or 'nothing'}{never}",
        ]
        return "\n".join([*lines, *([] if self.lines is None else [self.lines.text()])])

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        lines = None
        if self.lines is not None:
            lines = {"file": self.lines.file, "all": [*self.lines.all], "never": [*self.lines.never]}
        document = {"cases": self.cases, "verbs": dict(self.verbs), "triggers": [*self.triggers]}
        return {**document, "lines": lines}


@dataclass
class Tally:
    """What is counted towards it while a policy decides."""

    cases: int = 0
    verbs: Counter[int] = field(default_factory=Counter)
    triggers: int = 0

    def sum_up(self, lines: Lines | None) -> Tried:
        """What was tried."""
        verbs = {_words(verb): self.verbs[verb] for verb in Verb if self.verbs[verb]}
        triggers = tuple(_words(trigger) for trigger in Trigger if self.triggers & trigger)
        return Tried(self.cases, verbs, triggers, lines)


def _words(code: Verb | Trigger) -> str:
    return code.name.lower().replace("_", " ")


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
    tried
        What the policy did and met.
    """

    policy: str
    checks: list[Check]
    explanation: str
    tried: Tried

    @property
    def passed(self) -> bool:
        """Whether the policy keeps every rule."""
        return all(check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """Whether it keeps the rules, in words: of a policy of which lines never ran, only in what was tried."""
        if not self.passed:
            return f"{self.policy} breaks a rule: {', '.join(check.name for check in self.checks if not check.ok)}"
        return f"{self.policy} keeps every rule" + ("" if self.tried.complete else " in what was tried")
