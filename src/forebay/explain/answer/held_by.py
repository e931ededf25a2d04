"""The users whose jobs hold what is short, in words."""

from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.metrics._numbers import percent

if TYPE_CHECKING:
    import polars as pl

_NAMED = 2
"""Users that a sentence names; it counts the others."""


def held_by(found: "pl.DataFrame", own: str) -> str:
    """Users with most of it, with their jobs and their share; empty where users are not known.

    `own` is the user of the waiting job: the sentence says so where the user's own jobs are in its way.
    """
    rows = found.to_dicts()
    if not rows or rows[0]["user"] is None:
        return ""
    shown = rows[:_NAMED]
    while len(shown) > 1 and shown[-1]["share"] < 0.005:
        shown.pop()
    parts = [_one(row, own) for row in shown]
    rest = rows[len(shown) :]
    if rest:
        jobs, share = sum(row["jobs"] for row in rest), sum(row["share"] for row in rest)
        parts.append(f"{counted(jobs, 'job')} of others ({_share(share)})")
    return f"held by {' and '.join([', '.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)}"


def _one(row: dict[str, Any], own: str) -> str:
    user = "an unknown user" if row["user"] is None else str(row["user"])
    user = f"user {user}" if user.isdigit() else user
    user = f"the same user, {user}" if row["user"] == own else user
    account = f" of account {row['account']}" if row["account"] is not None else ""
    return f"{counted(row['jobs'], 'job')} of {user}{account} ({_share(row['share'])})"


def _share(share: float) -> str:
    return "under 1 %" if share < 0.005 else percent(round(share, 2)).replace(".0 %", " %")
