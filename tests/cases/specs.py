"""Every policy by its name, for tests that run them all; one that searches for long searches less."""

from forebay import policies

SHORT = {"plan-zheng": "plan-zheng:steps=2,moves=3"}
EVERY = [SHORT.get(name, name) for name in policies.names()]
WITHOUT_TIMES = [spec for spec in EVERY if not policies.load(spec).needs_times]
"""Those that run jobs without applications."""
