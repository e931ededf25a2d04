"""How a study judges a claim: by the interval of its numbers, never by their mean alone."""

from collections.abc import Iterable, Sequence

from forebay.experiments.statistics import Spread
from forebay.studies._expected import Published

YES, NO, UNDECIDED = "yes", "no", "undecided"


def is_so(held: bool) -> str:
    """A verdict on what has no interval."""
    return YES if held else NO


def above(one: Spread, bound: float = 0.0) -> str:
    """Whether a mean is above a bound: undecided if its 95 % interval holds the bound, or if there is one draw."""
    if one.half is None or abs(one.mean - bound) <= one.half:
        return UNDECIDED
    return is_so(one.mean > bound)


def below(one: Spread, bound: float = 0.0) -> str:
    """Whether it is below."""
    return opposite(above(one, bound))


def opposite(word: str) -> str:
    """The verdict on the opposite claim."""
    return {YES: NO, NO: YES}.get(word, word)


def both(words: Iterable[str]) -> str:
    """Whether all claims hold: no if one does not, else undecided if one is."""
    found = set(words)
    return NO if NO in found else UNDECIDED if UNDECIDED in found else YES


def lies_within(published: float, least: float, largest: float, tolerance: float = 0.0) -> bool:
    """Whether a number published from one draw lies in the range of ours, widened by a share of it."""
    margin = tolerance * abs(published)
    return least - margin <= published <= largest + margin


def as_published(one: Spread, published: Published) -> str:
    """Whether a number published from one draw is in the range of ours; if not, on which side of it ours are."""
    if lies_within(published.value, one.least, one.largest, published.tolerance or 0.0):
        return YES
    return f"{NO}: {'more' if one.mean > published.value else 'less'}"


def text(one: Spread, digits: int = 1, unit: str = "", scale: float = 1.0, sign: str = "") -> str:
    """A mean with half of its interval."""
    half = "" if one.half is None else f" ± {one.half * scale:.{digits}f}"
    return f"{one.mean * scale:{sign}.{digits}f}{half}{unit}"


def counted(words: Sequence[str]) -> str:
    """How often each verdict occurs."""
    return ", ".join(f"{word} in {words.count(word)}" for word in dict.fromkeys(words))
