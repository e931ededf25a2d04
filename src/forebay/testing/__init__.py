"""The rules of a policy, checked on many small random cases; a breach is explained with the smallest of them.

Authors of policies can run this: `forebay check-policy mine.py:Mine`, or `check_policy(...)` in one's own tests.
"""

from forebay.testing.case import Case, Flexible, Job, Leg
from forebay.testing.check import RULES, check_policy
from forebay.testing.drawing import KINDS, random_case
from forebay.testing.kinds import Kind
from forebay.testing.lines import Lines
from forebay.testing.report import Check, Report, Tried
from forebay.testing.scale import Scale
from forebay.testing.shrink import shrink

__all__ = [
    "KINDS",
    "RULES",
    "Case",
    "Check",
    "Flexible",
    "Job",
    "Kind",
    "Leg",
    "Lines",
    "Report",
    "Scale",
    "Tried",
    "check_policy",
    "random_case",
    "shrink",
]
