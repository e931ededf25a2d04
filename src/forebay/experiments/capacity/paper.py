"""What a search for a capacity has found, as tables."""

from collections.abc import Sequence

from forebay._support.paper import Table
from forebay.experiments.capacity import answers
from forebay.experiments.capacity.question import Question
from forebay.experiments.capacity.trials import Found


def table(question: Question, some: Sequence[Found]) -> Table:
    """All in one table: of several policies, the first column tells which."""
    every = tables(question, some)
    if len(every) == 1:
        return every[0]
    first = every[0]
    rows = [[found.policy, *row] for found, one in zip(some, every, strict=True) for row in one.rows]
    numbers = [place + 1 for place in first.numbers]
    return Table(["policy", *first.titles], rows, numbers, ". ".join(one.caption for one in every))


def tables(question: Question, some: Sequence[Found]) -> list[Table]:
    """Every capacity that was tried, a table for each policy; of two quantities, what each of the first asks for."""
    return [_curve(question, found) for found in some] if len(question.spans) < 2 else [_pairs(question, some)]


def _pairs(question: Question, some: Sequence[Found]) -> Table:
    outer, inner = (span.quantity for span in question.spans)
    cells = []
    for found in some:
        capacity, cost = found.answer.capacity, answers.cost_of(question, found)
        least, interval = "not reached", ""
        if capacity is not None:
            least, interval = inner.text(capacity), answers.interval(question, found.answer).strip(" ()")
        beside = outer.text(found.beside[outer.name])
        cells.append([found.policy, beside, least, interval, "" if cost is None else answers.money(question, cost)])
    titles = ["policy", outer.title, f"least {inner.title}", "interval", "cost"]
    return Table(titles, cells, (1, 2, 3, 4), ". ".join(answers.first_lines(question, some)))


def _curve(question: Question, found: Found) -> Table:
    """Every capacity that was tried."""
    span, target = question.spans[-1], question.target
    columns = [span.quantity.title, target.title, "± 95 %", "rejected", "meets the target"]
    rows = []
    for point in found.answer.points:
        half = None if point.spread is None else point.spread.half
        meets = "yes" if point.mean <= found.answer.limit else "no"
        cost = question.cost(answers.amounts(question, found, point.capacity))
        row = [span.quantity.text(point.capacity), answers.value_text(question, point), target.shown(half)]
        row += [f"{found.rejected[point.capacity]:,.4g}", meets]
        rows.append(row if cost is None else [*row, answers.money(question, cost)])
    columns += ["cost"] if question.prices else []
    numbers = (0, 1, 2, 3, *((5,) if question.prices else ()))
    return Table(columns, rows, numbers, answers.sentence(question, found))
