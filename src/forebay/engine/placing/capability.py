"""Nodes chosen by where they stand."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="placing",
        truth=within("placing", "rule", "group", "draws", "at", "words", "counts", "shares"),
        read_only=within("truth.placing", "rule", "group", "draws"),
        scratch=within("truth.placing", "words", "counts", "shares"),
    ),
)
