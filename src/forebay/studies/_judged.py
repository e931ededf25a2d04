"""How a study judges a claim: by the interval that its numbers carry, never by their mean alone."""

from collections.abc import Iterable, Sequence

from forebay.experiments.statistics import Spread
from forebay.studies._expected import Published

YES, NO, UNDECIDED = "yes", "no", "undecided"


def is_so(held: bool) -> str:
    """Of what carries no interval."""
    return YES if held else NO


def above(one: Spread, bound: float = 0.0) -> str:
    """Whether a mean lies above a bound: undecided if its 95 % interval has the bound, or a single draw gives none."""
    if one.half is None or abs(one.mean - bound) <= one.half:
        return UNDECIDED
    return is_so(one.mean > bound)


def below(one: Spread, bound: float = 0.0) -> str:
    """Whether it lies below."""
    return opposite(above(one, bound))


def opposite(word: str) -> str:
    """The same of what is claimed the other way round."""
    return {YES: NO, NO: YES}.get(word, word)


def both(words: Iterable[str]) -> str:
    """Whether all of some claims hold: one that does not is enough, and one that is undecided leaves it so."""
    found = set(words)
    return NO if NO in found else UNDECIDED if UNDECIDED in found else YES


def lies_within(published: float, least: float, largest: float, tolerance: float = 0.0) -> bool:
    """Whether a number published of one draw lies in the range of ours, widened by a share of it."""
    margin = tolerance * abs(published)
    return least - margin <= published <= largest + margin


def as_published(one: Spread, published: Published) -> str:
    """Whether a number published of one draw is one that our draws give; else on which side of it they are."""
    if lies_within(published.value, one.least, one.largest, published.tolerance or 0.0):
        return YES
    return f"{NO}: {'more' if one.mean > published.value else 'less'}"


def text(one: Spread, digits: int = 1, unit: str = "", scale: float = 1.0, sign: str = "") -> str:
    """A mean with half of its interval."""
    half = "" if one.half is None else f" ± {one.half * scale:.{digits}f}"
    return f"{one.mean * scale:{sign}.{digits}f}{half}{unit}"


def counted(words: Sequence[str]) -> str:
    """How many say what."""
    return ", ".join(f"{word} in {words.count(word)}" for word in dict.fromkeys(words))
