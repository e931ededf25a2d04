"""Tables that every run has."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        read_only=(
            *("machine", "nodes.site", "nodes.seats", "nodes.weights"),
            *within("truth", "jobs", "carries", "phases", "events"),
        ),
        buffers=within("truth", "log", "placements"),
        scratch=("actions", "picks", "shares", *within("truth", "due", "picks")),
    ),
)
