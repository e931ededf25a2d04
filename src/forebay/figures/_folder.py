"""What `plot` and `compare` share: figures drawn into a folder."""

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.results import Result

Period = tuple[float, float]


def available() -> bool:
    """Whether figures can be drawn at all."""
    return importlib.util.find_spec("matplotlib") is not None


def check(names: Iterable[str]) -> None:
    """Refuse what cannot be drawn before anything is read or simulated."""
    from forebay import figures

    for name in names:
        figures.proper(name)
    if not available():
        raise InputError("figures need the package matplotlib; install it with pip install matplotlib")


def draw(
    names: Iterable[str],
    results: Mapping[str, "Result"],
    windows: Mapping[str, Period | None],
    folder: Path,
    kind: str,
    width: float | None = None,
) -> list[Path]:
    """Draw some figures; gives the files written. Figures of jobs keep to the windows, those over time show all."""
    from forebay import _plugins, figures
    from forebay.metrics.window import window

    within = {
        label: result if windows[label] is None else window(result, *windows[label])  # type: ignore[misc]
        for label, result in results.items()
    }
    files = []
    for name in names:
        whole = getattr(_plugins.load("figures", name, "figure"), "OVER_TIME", False)
        files += figures.draw(name, results if whole else within, folder / f"{name}.{kind}", width)
    return files
