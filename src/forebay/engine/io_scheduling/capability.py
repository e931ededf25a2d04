"""Schedulers of I/O decide, beside any policy, which jobs read and write."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (Capability(name="io-scheduling", truth=within("io", "plan", "requests", "jobs", "first")),)
