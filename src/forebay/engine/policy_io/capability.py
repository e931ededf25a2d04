"""What a policy asks to see beside what all policies see."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(name="counters", state=within("io", "jobs", "links", "tiers", "rows")),
    Capability(name="columns", state=("columns",), truth=("columns",), read_only=("truth.columns",)),
)
