"""Jobs that wait for others."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="dependencies",
        truth=within("dependencies", "jobs", "edges", "first", "heap", "where", "joining", "over"),
    ),
)
