"""JSON that every reader takes."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def as_json(document: Any) -> str:
    """A document as text: numbers that are not finite are null, paths are text."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
