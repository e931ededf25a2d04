"""What window policies share: their parameters, a site's own rule over the Pareto set, and orders by priority."""

from forebay.policies._families.window.parameters import METHODS, Param, Windowed

__all__ = ["METHODS", "Param", "Windowed"]
