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
        state=within("tiers", "rates", "told"),
        truth=("told",),
        read_only=("tiers.rates", "truth.told"),
    ),
    Capability(name="kinds", machine="large"),
    Capability(name="classes", state=("shares", "nodes.atoms"), read_only=("nodes.atoms",)),
)
