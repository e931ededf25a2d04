"""Plans of all waiting jobs in which each runs on the tier of storage that ends it soonest (beyond SAS, 2019)."""

from dataclasses import dataclass

from forebay.policies._families.tier_plan import TierPlanning


@dataclass(frozen=True)
class SasPlan(TierPlanning):
    """As sas, with the order searched for."""
