"""The row *as recorded*: how jobs waited on the machine of the trace, beside how they wait in a simulation."""

from typing import TYPE_CHECKING, Any

from forebay._text import counted

if TYPE_CHECKING:
    from forebay.cli._runs import Setting

NAME = "as recorded"
"""What tables call the schedule of the trace, in place of a policy."""


def numbers(setting: "Setting") -> dict[str, Any] | None:
    """The row's numbers, by the names of a summary's; None where the trace does not tell when jobs started.

    Over the jobs of the window that a start is known of. `n_jobs` says how many these are.
    """
    from forebay.workload import recorded

    return recorded.numbers(setting.workload, setting.window)


def text(found: dict[str, Any]) -> str:
    """The numbers in words, for a page on one run."""
    from forebay.cli._render.number_text import shown

    if "mean_wait" not in found:
        return "no wait can be told"
    words = {
        "mean wait": "mean_wait",
        "95 % wait at most": "p95_wait",
        "longest": "max_wait",
        "bounded slowdown": "mean_bounded_slowdown_10min",
    }
    parts = [f"{word} {shown(name, found[name])}" for word, name in words.items()]
    return f"{', '.join(parts)} ({counted(found['n_jobs'], 'job')})"


def notes(found: dict[str, Any] | None) -> list[str]:
    """What a reader of the row should know."""
    from forebay.workload import recorded

    return recorded.notes(found)
