"""Partitions that let no job start for a time."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="partitions",
        truth=within("doors", "table", "atoms", "of", "away", "left"),
        read_only=within("truth.doors", "table", "atoms", "of", "away"),
    ),
)
