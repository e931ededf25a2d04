"""What policies know of jobs' reads and writes."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="known-io",
        state=("known_io",),
        truth=within("known_io", "jobs", "exact", "learner", "last"),
        read_only=within("truth.known_io", "jobs", "exact", "learner"),
    ),
)
