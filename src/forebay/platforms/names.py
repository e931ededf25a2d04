"""Names of nodes, as a class of them may give them: files may name nodes so, which have ids from then on.

Names are for those who write files. They are resolved when a platform is built; what runs knows ids alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from forebay._support.text import counted
from forebay.core.hostlist import expand
from forebay.errors import InputError, brief, nearest

_IDS = re.compile(r"[0-9,\s-]*", re.ASCII)
_MANY = 10_000
"""Names among which no near one is looked for: that takes seconds."""


def are_ids(text: str) -> bool:
    """Whether a list of nodes is one of ids, not of names."""
    return _IDS.fullmatch(text) is not None


def listed_in(text: str) -> list[str]:
    """The names of a list; ValueError if it is none."""
    try:
        return expand(text, "")
    except InputError as error:
        raise ValueError(str(error).removeprefix(": ")) from None


def ids_by_name(classes: Iterable[tuple[int, str]]) -> dict[str, int]:
    """The id of every node that has a name, of the number and the names of each class; ValueError if two have one."""
    found: dict[str, int] = {}
    first = 0
    for count, names in classes:
        for place, name in enumerate(listed_in(names)):
            if found.setdefault(name, first + place) != first + place:
                raise ValueError(f"two nodes are called {brief(name)}; give one another name")
        first += count
    return found


def as_ids(nodes: str, whose: str, names: dict[str, int]) -> str:
    """A list of nodes as ids, such as 0-3,12; ValueError for a name that no node has."""
    if are_ids(nodes):
        return nodes
    ids = []
    for name in listed_in(nodes):
        if name not in names:
            hint = nearest(name, names) if 0 < len(names) < _MANY else "check the names of classes"
            if not names:
                hint = (
                    'no class tells the names of its nodes; write ids such as "0-9,12", or names = "n[001-280]" there'
                )
            raise ValueError(f"{whose} has node {brief(name)}, which there is not; {hint}")
        ids.append(names[name])
    return ranges(sorted(set(ids)))


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as `0-99,120`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def check_count(names: str, nodes: int) -> None:
    """Raise ValueError unless a class has as many names as nodes, all different."""
    found = listed_in(names)
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise ValueError(f"two nodes are called {brief(twice[0])}; give one another name")
    if len(found) != nodes:
        text = f"{brief(names)} has {counted(len(found), 'name')}"
        raise ValueError(f"{text}, and the class {counted(nodes, 'node')}; correct one of them")
