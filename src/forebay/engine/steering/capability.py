"""Policies weigh, hold and cap transfers."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (Capability(name="steering", truth=(*within("steering", "rules"), "network.copies")),)
