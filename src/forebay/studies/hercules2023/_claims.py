"""What the text says of malleable Hercules, and what the fitted model says."""

from collections.abc import Sequence
from itertools import pairwise

from forebay.studies import _judged as judged
from forebay.studies._expected import Expected
from forebay.studies._tables import Row, tagged
from forebay.studies.hercules2023 import _gains
from forebay.studies.hercules2023._settings import Figures

NOTHING = 2.0
"""Per cent below which a gain counts as none."""
NEAR = 0.5
"""Points by which the cost of being malleable may be off."""


def of(chosen: Figures, rows: Sequence[Row], expected: Expected) -> list[Row]:
    """Trends and sizes; weak and strong scaling are one to the model."""
    known = [row for row in rows if row["published"] is not None]
    near = [row for row in known if abs(row["apart"]) <= chosen.points]
    apart = sum(abs(row["apart"]) for row in known) / len(known)
    text = f"gains, to {chosen.points:g} points"
    ours = f"{len(near)} of {len(known)}; {apart:.1f} points off on average"
    made = [_claim(text, "all", f"{len(known)} numbers", ours, len(near) == len(known))]
    for kind in _gains.KINDS:
        for block in chosen.blocks:
            # Weak scaling: of it the text has the most.
            gains = [row["gain"] for row in tagged(rows, scaling="weak", kind=kind, block=block)]
            where, words = f"{kind}, {_gains.size(block)}", ", ".join(f"{gain:.1f}" for gain in gains)
            falls = all(later < one for one, later in pairwise(gains))
            made.append(_claim("gain falls with the data nodes at first", where, "yes", f"{words} %", falls))
    last = tagged(rows, scaling="weak", kind="write", block=chosen.blocks[0], servers=chosen.servers[-1])
    for row in last:
        held = row["published"] is not None and abs(row["apart"]) <= NEAR
        text = "without data nodes to add, being malleable costs about 1 %"
        made.append(_claim(text, _where(row), f"{row['published']:.2f} %", f"{row['gain']:.2f} %", held))
    reads = [row["gain"] for row in tagged(rows, kind="read", servers=8, scaling="weak")]
    if reads:
        words = ", ".join(f"{gain:.1f}" for gain in reads)
        held = max(reads) < NOTHING
        made.append(_claim("reads gain nothing from 8 data nodes on", "read", "0.0, 1.3 %", f"{words} %", held))
    for kind in _gains.KINDS:
        found = expected.find(section="published", metric=f"factor_{kind}")
        if found is not None:
            times = _gains.factor(chosen, kind)
            held = abs(times - found.value) <= (found.tolerance or 0.0) * found.value
            made.append(_claim("1 MB against 256 kB", kind, f"{found.value:.2f} times", f"{times:.2f} times", held))
    return made


def _where(row: Row) -> str:
    return f"{row['kind']}, {_gains.size(row['block'])}, {row['servers']} of {row['servers']}"


def _claim(text: str, where: str, published: str, ours: str, held: bool) -> Row:
    return {"claim": text, "where": where, "published": published, "ours": ours, "verdict": judged.is_so(held)}
