"""Who gains and who loses, of a table of groups: counts, the largest losers, and hours in words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forebay.metrics._numbers import NONE, hours_of_change

if TYPE_CHECKING:
    import polars as pl

LOSES, GAINS, UNDECIDED, SAME = "loses", "gains", "undecided", "same"
MANY = {"queue": "queues", "user": "users", "account": "accounts", "qos": "QOS"}


def tally(frame: "pl.DataFrame", policy: str) -> list[dict[str, Any]]:
    """By column: how many groups lose, gain, and are neither under a policy, and who loses most."""
    import polars as pl

    rows = []
    for (column,), part in frame.filter(pl.col("policy") == policy).group_by("by", maintain_order=True):
        known = part.filter(pl.col("verdict").is_not_null())
        if known.is_empty():
            continue
        numbers = {word: int((known["verdict"] == word).sum()) for word in (LOSES, GAINS, UNDECIDED, SAME)}
        rows.append({"by": column, "groups": len(known), **numbers, "worst": known.row(0, named=True)})
    return rows


def ends(rows: Sequence[Any], top: int) -> tuple[list[Any], int, list[Any]]:
    """Of rows with the largest losses first: those to show from the top, how many are left out, those from the end."""
    if len(rows) <= top:
        return list(rows), 0, []
    last = top // 2
    return list(rows[: top - last]), len(rows) - top, list(rows[len(rows) - last :])


def hours(row: Mapping[str, Any], narrow: bool = False) -> str:
    """Hours lost, below 0 where they are gained, with their interval: "+120 h (+80 to +160)"."""
    net, low, high = (row.get(name) for name in ("net_hours", "low_hours", "high_hours"))
    if net is None:
        return NONE
    text = f"{hours_of_change(net)} h"
    if narrow or low is None or high is None or low == high:
        return text
    decided = row.get("verdict") in (LOSES, GAINS)
    return f"{text} ({hours_of_change(low, decided)} to {hours_of_change(high, decided)})"
