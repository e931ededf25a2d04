"""expected.csv: published numbers, each with where it was read."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.errors import InputError

COLUMNS = ("section", "part", "job_model", "policy", "metric", "value", "tolerance", "source")
KEYS = COLUMNS[:5]


@dataclass(frozen=True)
class Published:
    """A number as published. Tolerance is the share of it by which our runs may miss it; None: not comparable so."""

    value: float
    tolerance: float | None
    source: str


class Expected:
    """All published numbers of a study, found by section, part, job model, policy and metric."""

    def __init__(self, numbers: Mapping[tuple[str, ...], Published]) -> None:
        self._numbers = dict(numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._numbers)

    def find(self, **keys: Any) -> Published | None:
        """The number for these keys; those left out are empty in the file."""
        return self._numbers.get(tuple("" if keys.get(key) is None else str(keys[key]) for key in KEYS))

    def mean_over(self, parts: Iterable[int], **keys: Any) -> float | None:
        """The mean of the numbers for these parts; None unless there is one for each."""
        each = [self.find(**keys | {"part": part}) for part in parts]
        values = [one.value for one in each if one is not None]
        return math.fsum(values) / len(values) if values and len(values) == len(each) else None


def read_expected(path: Path) -> Expected:
    """The numbers in a file; a number given twice, or without a source, is refused."""
    numbers: dict[tuple[str, ...], Published] = {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise InputError(f"{path}: its columns must be {', '.join(COLUMNS)}")
        for line, row in enumerate(rows, 2):
            where = f"{path}:{line}"
            key = tuple(row[name] for name in KEYS)
            if key in numbers:
                raise InputError(f"{where}: this number is given twice; keep one")
            if not row["source"]:
                raise InputError(f"{where}: has no source; say where the number was read")
            tolerance = None if row["tolerance"] == "" else _number(row["tolerance"], where)
            numbers[key] = Published(_number(row["value"], where), tolerance, row["source"])
    return Expected(numbers)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {text!r} is not a number") from None
