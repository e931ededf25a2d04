"""Each job waits for fast storage or runs on slow storage now, whichever ends it sooner: SAS (Lackner et al. 2019)."""

from dataclasses import dataclass

from forebay.policies._families.tiers import Tiering


@dataclass(frozen=True)
class Sas(Tiering):
    """As in the paper: every transfer is taken to have its link to itself."""
