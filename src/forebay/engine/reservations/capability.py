"""Nodes that a site has set aside."""

from forebay.engine.capability import Capability

DESCRIPTIONS = (
    Capability(
        name="reservations",
        state=("planned",),
        truth=("member",),
        read_only=("planned", "truth.member"),
    ),
)
