"""The table of a comparison as papers have it."""

from typing import TYPE_CHECKING

from forebay._support.paper import Table
from forebay.experiments.verdicts import change_text
from forebay.metrics._numbers import NONE, seconds, shown
from forebay.report._summaries import caption, columns

if TYPE_CHECKING:
    from forebay.experiments.comparison.compared import Compared

HEADLINE = "mean_wait"


def table(compared: "Compared") -> Table:
    """A row a policy, best first; the change is that of the mean wait."""
    judged = {one.policy: one for one in compared.verdicts if one.metric == HEADLINE}
    first = compared.first
    numbers = {name: value for document in compared.documents for name, value in document["summary"].items()}
    wanted = columns(numbers, first["resources"])
    titles = ["policy", *(title for _, title in wanted)]
    found = [[one["policy"], *(shown(name, one["summary"].get(name)) for name, _ in wanted)] for one in compared.shown]
    if judged:
        titles.insert(2, f"against {compared.reference}")
        for row in found:
            row.insert(2, change_text(judged[row[0]]) if row[0] in judged else NONE)
    return Table(titles, found, range(1, len(titles)), basis(compared))


def basis(compared: "Compared") -> str:
    """What the table rests on, for its caption."""
    first = compared.first
    jobs = caption([{key: first[key] for key in ("workload", "platform")}], first["summary"]["n_jobs"])
    least = "" if compared.least is None else _least(compared.least.best[HEADLINE]["value"])
    judged = f" Changes of the mean wait against {compared.reference}, {compared.basis}." if compared.verdicts else ""
    return f"{jobs}.{judged}{least}"


def _least(value: float | None) -> str:
    return f" No policy can have a mean wait below {seconds(value)}." if value else ""
