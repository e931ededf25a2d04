"""Facts: what is known of a run's tables, and never changes in it. Of plain Python, as policies name some."""

from typing import NamedTuple

ROWS = "rows"
"""What a fact says of a table's length."""


class Fact(NamedTuple):
    """What holds throughout a run: how many rows a table has, or a number in its first row, is within bounds."""

    table: str  # of tables within others, both names: "network.links"
    what: str  # ROWS, or a column of the first row
    low: int
    high: int


Facts = frozenset[Fact]
NO_FACTS: Facts = frozenset()
