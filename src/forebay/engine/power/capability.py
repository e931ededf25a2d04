"""Nodes that are switched off when they are idle. A cap on what the machine draws is a limit: see `limits`."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="power",
        truth=within("power", "rule", "since", "boots"),
        read_only=("truth.power.rule",),
    ),
)
