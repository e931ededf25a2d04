"""The building blocks of compiled policies: what `view` and `act` are to policies in plain Python.

They know chunks, kinds, classes, partitions and shared nodes, as the built-in policies do: those are made of them. Call
them from a `forebay.policy_kernel`. `state` is what a scheduler knows, `have` what a decision has left of it:
`what_is_left(state)`, which shrinks with each `start`.
"""

from forebay.core.codes import AGAIN
from forebay.core.verbs import (
    act_interrupt,
    act_kill,
    act_reject,
    act_resize,
    act_start,
    act_wake,
    interrupted,
    take_picks_from,
)
from forebay.policies._kernels.availability.placement import fits_now as fits
from forebay.policies._kernels.availability.queries import earliest, fits_at, profile, waits
from forebay.policies._kernels.availability.remaining import what_is_left
from forebay.policies._kernels.backfill.backfill import start_now as start
from forebay.policies._kernels.backfill.verb import backfill, line_of
from forebay.policies._kernels.victims import can_give_way, choose_victims, displace
from forebay.policies._orders import ALL, ORDERS

__all__ = [
    "AGAIN",
    "ALL",
    "ORDERS",
    "act_interrupt",
    "act_kill",
    "act_reject",
    "act_resize",
    "act_start",
    "act_wake",
    "backfill",
    "can_give_way",
    "choose_victims",
    "displace",
    "earliest",
    "fits",
    "fits_at",
    "interrupted",
    "line_of",
    "profile",
    "start",
    "take_picks_from",
    "waits",
    "what_is_left",
]
