"""Jobs in rounds, whose size may change."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="applications",
        state=within("flexible", "row", "jobs", "sizes", "points"),
        truth=(
            *within("rounds", "steps", "scales", "requests", "detours", "moves", "first_move", "progress"),
            *within("rounds", "row", "jobs", "sizes"),
        ),
        read_only=(
            *within("truth.rounds", "steps", "scales", "requests", "detours", "moves", "first_move"),
            *within("truth.rounds", "row", "jobs", "sizes"),
        ),
    ),
)
