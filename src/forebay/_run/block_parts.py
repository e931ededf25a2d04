"""What policies in plain Python build on: kernels of the built-in policies, by the words that lead there."""

Part = tuple[str, ...]
"""A way into compiled code: module and function. It is compiled with all kernels below it, and so by itself. Behind
these may stand the variant, and the shape of a policy's numbers, for which it is: see `engine.variants`."""

KERNELS = "forebay.policies._kernels."
_AVAILABILITY = f"{KERNELS}availability."
_LAY: Part = (f"{_AVAILABILITY}reserving", "lay")
BLOCKS: dict[str, Part] = {
    "backfill": (f"{KERNELS}backfill.verb", "line_up"),
    **{name: (f"{_AVAILABILITY}queries", name) for name in ("earliest", "fits_at")},
    "profile": (f"{_AVAILABILITY}reserving", "open_profile"),
    "lay": _LAY,
    "plan": _LAY,
    "reserve": _LAY,
    "beside": (f"{_AVAILABILITY}reserving", "start_in"),
    "without_windows": (f"{_AVAILABILITY}reserving", "without_windows"),
    **{
        name: (f"{_AVAILABILITY}reserving_inside", name)
        for name in ("open_calendar", "lay_inside", "give_back_inside", "start_in_calendar")
    },
    "preempt": (f"{KERNELS}victims", "victims"),
    "plan_with": (f"{KERNELS}predicted", "plan_given"),
    "window_points": (f"{KERNELS}window_parts", "points"),
    "window_starts": (f"{KERNELS}window_parts", "starts"),
    "ranked_points": (f"{KERNELS}window_by_priority", "points"),
    "ranked_starts": (f"{KERNELS}window_by_priority", "starts"),
}
"""A policy whose code names one of these words is compiled with what stands there; others are compiled when they are
first called."""
