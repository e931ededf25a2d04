"""SAS (Lackner et al. 2019) that takes transfers to share their links with those of running jobs."""

from dataclasses import dataclass
from typing import ClassVar

from forebay.policies._families.tiers import Tiering


@dataclass(frozen=True)
class SasContention(Tiering):
    """As sas, but for the rates: what the running jobs leave of a link, on average."""

    contention: ClassVar[bool] = True
