"""A curve with its band over the next day, as SVG: no script, and colours of the page."""

from collections.abc import Sequence

from forebay.report.page import escaped

WIDE, HIGH = 560, 190
_LEFT, _BELOW, _ABOVE = 46, 24, 10
_DAY = 24


def band(title: str, hours: Sequence[float], rows: Sequence[Sequence[float]], top: float, unit: str = "") -> str:
    """Low, middle and high over hours from now; the middle is a line, the others its band."""
    top = max(top, 1e-9)

    def x(hour: float) -> float:
        return _LEFT + (WIDE - _LEFT - 8) * hour / max(hours[-1], 1e-9)

    def y(value: float) -> float:
        return HIGH - _BELOW - (HIGH - _BELOW - _ABOVE) * min(max(value / top, 0.0), 1.0)

    low, middle, high = ([f"{x(h):.1f},{y(v):.1f}" for h, v in zip(hours, row, strict=True)] for row in rows)
    lines = [
        f'<line x1="{_LEFT}" x2="{WIDE - 8}" y1="{y(share * top):.1f}" y2="{y(share * top):.1f}" class="grid"/>'
        f'<text x="{_LEFT - 6}" y="{y(share * top) + 4:.1f}" text-anchor="end">{share * top:.4g}{escaped(unit)}</text>'
        for share in (0.0, 0.5, 1.0)
    ]
    lines += [
        f'<text x="{x(hour):.1f}" y="{HIGH - 6}" text-anchor="{"end" if hour == _DAY else "middle"}">'
        f"{f'+{hour} h' if hour else 'now'}</text>"
        for hour in (0, 6, 12, 18, _DAY)
    ]
    return (
        f"<figure><figcaption>{escaped(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{escaped(title)}">{"".join(lines)}'
        f'<polygon class="band" points="{" ".join([*low, *reversed(high)])}"/>'
        f'<polyline class="middle" points="{" ".join(middle)}"/></svg></figure>'
    )
