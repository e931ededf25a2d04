"""Start every waiting job that fits, in order of arrival, and reserve nothing: large jobs may starve.

Kopański & Rządca (2021), section 4.2: the backfill procedure of Algorithm 1 without line 14."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class Filler(Backfill):
    """Everybody may pass; nobody is protected."""

    depth: int = 0
