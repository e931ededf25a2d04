"""Nodes that are not all alike, and storage beside them."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="servers",
        state=within("servers", "room", "chunks"),
        truth=("stored", "room"),
        machine="chunked",
        read_only=("servers.near",),
        buffers=("truth.stored",),
        scratch=("truth.room",),
    ),
    Capability(
        name="tiers",
        state=within("tiers", "rates", "stated"),
        truth=("stated",),
        read_only=("tiers.rates", "truth.stated"),
    ),
    Capability(name="kinds", machine="large"),
    Capability(name="classes", state=("shares", "nodes.atoms"), read_only=("nodes.atoms",)),
)
