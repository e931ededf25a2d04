"""Decisions at whole multiples of a period alone."""

from forebay.engine.capability import Capability

DESCRIPTIONS = (Capability(name="ticks", truth=("ticks",)),)
