"""study.toml: read strictly, with the table [quick] laid over the rest for the reduced version."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay._support.reading import read_toml
from forebay.errors import InputError, brief, nearest

QUICK = "quick"


class Strict(BaseModel):
    """A table of study.toml: only keys that are known, and values of just the right kind."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Settings(Strict):
    """Keys that every study has."""

    title: str  # authors, title, year
    paper: str  # where to read it
    sections: list[str] = Field(min_length=1)  # what is run where no section is named
    policies: list[str] = Field(min_length=1)
    random: list[str] = []  # those of the policies that draw random numbers: they are run under several seeds


S = TypeVar("S", bound=Settings)


def read_settings(path: Path, model: type[S], quick: bool = False) -> S:
    """The settings in a file, or those of its quick version."""
    try:
        table = read_toml(path, "seeds = 5")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); every study has this file") from None
    over = table.pop(QUICK, {})
    if not isinstance(over, dict):
        raise InputError(f"{path}: {QUICK}: must be a table with the keys it changes")
    full = _checked(path, model, table)  # what is wrong with the whole is reported first, also of a quick version
    return _checked(path, model, _laid_over(table, over), f"{QUICK}.") if quick else full


def _laid_over(table: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`table` with the values of `over`, table by table."""
    both = {
        key: _laid_over(table[key], value) if isinstance(value, dict) and isinstance(table.get(key), dict) else value
        for key, value in over.items()
    }
    return {**table, **both}


def _checked(path: Path, model: type[S], table: Mapping[str, Any], prefix: str = "") -> S:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        lines = [_told(detail, model, prefix) for detail in error.errors(include_url=False)]
    if len(lines) == 1:
        raise InputError(f"{path}: {lines[0]}")
    raise InputError(f"{path}: {len(lines)} problems\n  " + "\n  ".join(lines))


def _told(detail: Any, model: type[BaseModel], prefix: str) -> str:
    """One complaint of pydantic in our words."""
    name = f"{prefix}{'.'.join(map(str, detail['loc']))}"
    if detail["type"] == "extra_forbidden":
        known = _table_at(model, detail["loc"][:-1])
        return f"{name}: unknown key; {nearest(str(detail['loc'][-1]), known)}"
    if detail["type"] == "missing":
        return f"{name}: missing; every study.toml of this study has it"
    return f"{name}: {brief(detail['input'])} will not do: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _table_at(model: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    """Names of the keys that the table at `place` may have, as they are written."""
    for key in place:
        inner = next((f.annotation for n, f in model.model_fields.items() if key in (n, f.alias)), None)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]
