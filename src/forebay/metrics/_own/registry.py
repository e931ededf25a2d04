"""The metrics of users that this process knows."""

from collections.abc import Iterable

from forebay.errors import InputError
from forebay.metrics._metric import Metric
from forebay.metrics._own.own import Own, is_mark

_own: dict[tuple[str, str], Own] = {}
_kept: dict[str, Metric] = {}
"""What folders say of numbers of metrics whose code is not at hand."""
_written: dict[str, str] = {}
"""Files as their users write them."""


def own() -> tuple[Own, ...]:
    """All of them, in the order in which they came."""
    return tuple(_own.values())


def add(one: Own) -> None:
    """One more. What the same function was before, it replaces; a name that another one has is refused."""
    for other in _own.values():
        twice = [name for name in one.names if other.gives(name)] or [name for name in other.names if one.gives(name)]
        if twice and other.key != one.key:
            raise InputError(
                f"metric {twice[0]!r} of {one.title} exists already: {other.title}; give one of them another name, "
                'such as @fb.metric("other_name")'
            )
    _own[one.key] = one


def replace(file: str, some: Iterable[Own], written: str) -> None:
    """What a file defines, for all that it defined before."""
    for key in [key for key, one in _own.items() if one.file == file]:
        del _own[key]
    for one in some:
        add(one)
    _written[file] = written


def remember(one: Metric) -> None:
    """What a folder says of a number."""
    _kept[one.names[0]] = one


def kept(name: str) -> Metric | None:
    """The same, if any does."""
    return _kept.get(name)


def tokens() -> tuple[str, ...]:
    """What runs are given so that they have all of these."""
    return tuple(dict.fromkeys(one.token for one in own()))


def words(some: Iterable[str]) -> list[str]:
    """The options of a command that give it these; none for those that no file has."""
    return [word for token in some if not is_mark(token) for word in ("--metrics", _written.get(token, token))]


def forget() -> None:
    """Know none of them any more."""
    _own.clear()
    _kept.clear()
