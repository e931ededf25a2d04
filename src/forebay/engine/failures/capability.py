"""Nodes that fail; jobs that save their work against it are described here, too, as they share a table."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="failures",
        state=("down", "safety"),
        truth=within("resilience", "failures", "repairs", "down", "safe"),
        read_only=("truth.resilience.rule",),
    ),
)
