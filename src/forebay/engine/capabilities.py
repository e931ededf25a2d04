"""The descriptions of all capabilities, as they stand in the rooms of the engine: no other file lists them."""

from importlib import import_module
from itertools import chain
from pathlib import Path

from forebay.engine.capability import Capability


def _described() -> tuple[Capability, ...]:
    rooms = sorted(path.parent.name for path in Path(__file__).parent.glob("*/capability.py"))
    return tuple(chain(*(import_module(f"forebay.engine.{room}.capability").DESCRIPTIONS for room in rooms)))


DESCRIBED = _described()
