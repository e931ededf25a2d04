"""Advice as text that a shell takes: what is explained stands behind `#`, and no word of a user is in a command."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forebay._live.advise.effects import ALL, Change
from forebay._live.advise.order import OrderAdvice
from forebay._live.advise.settings import SettingsAdvice, Won
from forebay._predict._words import rough
from forebay._support.text import counted
from forebay.workload.dates import date_text

_SHOWN_LOSERS = 5


def plain_word(text: str) -> str:
    """A user's or a policy's name in a comment: what may stand in names, and `?` for all else."""
    return re.sub(r"[^\w.@:=,+-]", "?", text, flags=re.ASCII)[:80] or "?"


def order_lines(advice: OrderAdvice) -> Iterator[str]:
    """On the queue."""
    waiting = counted(advice.waiting, "job that waits", "jobs that wait")
    yield f"# Order: that of {plain_word(advice.policy)} for {waiting}."
    if not advice.lines or advice.effect is None:
        yield "# The queue stands in this order already." if advice.waiting else "# No job waits for its turn."
        return
    yield f"# Expected, by {advice.effect.futures} futures under Slurm's own schedulers:"
    yield f"#   {_change(advice.effect.all)}"
    losers = advice.effect.losers
    yield "# Who loses:" if losers else "# Who loses: no user's jobs wait longer on average."
    yield from (f"#   {_change(one)}" for one in losers[:_SHOWN_LOSERS])
    if len(losers) > _SHOWN_LOSERS:
        yield f"#   and {counted(len(losers) - _SHOWN_LOSERS, 'more user', 'more users')}"
    yield "# Jobs that come later are not put behind these; look again when the queue has changed."
    for one in advice.lines:
        yield f"{one.command}  # planned to start in {rough(one.start)}"
    yield "# To undo it:"
    yield from (f"# {one.undo}" for one in advice.lines)


def _change(one: Change) -> str:
    who = one.who if one.who == ALL else plain_word(one.who)
    waits = f"a mean wait from now of {rough(one.after)}, not {rough(one.before)}"
    shares = f"in 80 % of futures {_signed(one.low)} to {_signed(one.high)}"
    return f"{who} ({counted(one.jobs, 'job')}): {waits}; {_signed(one.after - one.before)}, {shares}"


def _signed(seconds: float) -> str:
    if abs(seconds) < 1:
        return "no change"
    return f"{rough(abs(seconds))} {'longer' if seconds > 0 else 'shorter'}"


def settings_lines(advice: SettingsAdvice) -> Iterator[str]:
    """On Slurm's settings."""
    since, until = (f"{date_text(moment)} UTC" for moment in (advice.since, advice.until))
    yield f"# Settings: {counted(advice.tried, 'what-if')} on {counted(advice.jobs, 'job')} of {since} to {until},"
    yield f"# against {plain_word(advice.reference)}, the nearest to this site's scheduler."
    for name, why in advice.failed.items():
        yield f"# {plain_word(name)} failed: {' '.join(map(plain_word, why.split()))}"
    if not advice.won:
        yield "# None made the mean wait shorter beyond doubt: nothing to change."
    for one in advice.won:
        yield ""
        yield from _won(one)


def _won(one: Won) -> Iterator[str]:
    yield f"# {one.key}={one.value}"
    yield f"#   mean wait: {_verdict(one.wait)}"
    if one.p95 is not None:
        yield f"#   p95 wait: {_verdict(one.p95)}"
    for name, hours, word in one.losers:
        yield f"#   loses: user {plain_word(name)}, {hours:,.1f} h of waiting more ({plain_word(word)})"
    if not one.losers:
        yield "#   no user's jobs wait longer in sum"
    if one.lines is None:
        yield f"#   no line: {' '.join(map(plain_word, one.why_not.split()))}"
        return
    if one.lines.file:
        yield "#   change, then scontrol reconfigure:"
    yield from (f"# {line}" if one.lines.file else line for line in one.lines.do)
    yield "#   to undo it:"
    yield from (f"# {line}" for line in one.lines.undo)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["change"] is None:
        return "not known"
    text = f"{row['change']:+.1%}"
    interval = "" if row["low"] is None else f" (95 %: {row['low']:+.1%} to {row['high']:+.1%})"
    return f"{text}{interval}, {row['verdict']}"
