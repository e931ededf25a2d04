"""Jobs move data over links that they share."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="transfers",
        truth=(
            *within("network", "links", "routes", "entries", "transfers", "where"),
            *within("paths", "column", "routes", "links", "by_server", "by_link", "touched"),
            "ended",
        ),
        read_only=within("truth.paths", "port", "column", "routes", "whole", "first", "links", "device"),
        scratch=(
            "truth.ended",
            *within("truth.paths", "by_site", "by_server", "by_link", "touched"),
            *within("truth.network", "share", "chosen"),
        ),
    ),
)
