"""Limits on what jobs may have running together."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="limits",
        truth=("hidden", "held", *within("meters", "table", "of", "away", "cause", "outside", "place")),
        read_only=within("truth.meters", "most", "most_ahead", "first", "of", "asks", "away"),
        buffers=("truth.held",),
    ),
)
