"""Everything wrong with a description, reported at once: where, which field, what, and how to put it right."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forebay.errors import InputError, brief, listed, nearest

M = TypeVar("M", bound=BaseModel)
NONE: Mapping[str, Any] = MappingProxyType({})
_WIDE, _LONG = 80, 400  # characters of a name, and of what is said of it

_WORDS = {
    "string_type": 'must be text in quotes, such as "mine"',
    "string_pattern_mismatch": "must begin with a letter and go on in letters, digits, - and _",
    "bool_type": "must be true or false, without quotes",
    "tuple_type": "must be a tuple, of a single one too: (tier,)",
    "model_type": "must be an object of a class in forebay.platforms.tiers or forebay.platforms.topologies",
}


@dataclass
class Problems:
    """What is wrong so far with the description at `where` (a file, or a spec of the command line)."""

    where: str
    equals: str = " = "  # how an assignment is written there
    quotes: bool = True  # and whether text has quotes
    lines: list[str] = field(default_factory=list)

    def add(self, name: str, text: str) -> None:
        """One more complaint, about the field of that dotted name."""
        # A slip of the editor may leave a whole file in one value: keep what is wrong, and how to mend it.
        short = text if len(text) <= _LONG else f"{text[: _LONG // 2]} ... {text[-_LONG // 2 :]}"
        self.lines.append(f"{listed([name], width=_WIDE)}: {short}")

    def check(
        self,
        model: type[M],
        values: Mapping[str, Any],
        path: str = "",
        context: str = "",
        known: Mapping[str, Any] = NONE,
    ) -> M | None:
        """A `model` of the values users wrote and of the `known` ones they do not write; None after a complaint."""
        before = len(self.lines)
        for key in known.keys() & values.keys():
            self._unknown(key, model, path, known)
        try:
            made = model.model_validate({**values, **known}, context=context)
        except ValidationError as error:
            self.take(error, model, path, known)
            return None
        return made if len(self.lines) == before else None

    def take(
        self, error: ValidationError, model: type[BaseModel], path: str = "", known: Mapping[str, Any] = NONE
    ) -> None:
        """All that pydantic found wrong with a `model`, in our words."""
        for detail in error.errors(include_url=False):
            self._explain(detail, model, path, known)

    def _explain(self, detail: Any, model: type[BaseModel], path: str, known: Mapping[str, Any]) -> None:
        key = str(detail["loc"][0]) if detail["loc"] else ""
        name = f"{path}{key}".rstrip(".") or model.__name__.lower()
        if detail["type"] == "missing":
            examples = model.model_fields[key].examples or ["..."]
            example = json.dumps(examples[0]) if self.quotes else examples[0]
            self.add(name, f"missing; write {key}{self.equals}{example}")
        elif detail["type"] == "extra_forbidden":
            self._unknown(key, model, path, known)
        elif detail["type"] == "value_error":
            self.add(name, str(detail["ctx"]["error"]))
        elif detail["type"] == "literal_error":
            self.add(name, f"{brief(detail['input'])} is not known; write {detail['ctx']['expected']}")
        else:
            self.add(name, f"{brief(detail['input'])} {_WORDS.get(detail['type'], 'is not of the right kind')}")

    def _unknown(self, key: str, model: type[BaseModel], path: str, known: Mapping[str, Any]) -> None:
        keys = model.model_fields.keys() - known.keys()
        self.add(f"{path}{key}", f"unknown key; {nearest(key, keys) if keys else 'nothing can be set here'}")

    def stop(self) -> None:
        """Raise all complaints as one InputError, if there are any."""
        if self.lines:
            raise self.error()

    def error(self) -> InputError:
        """All complaints as one."""
        if len(self.lines) == 1:
            return InputError(f"{self.where}: {self.lines[0]}")
        return InputError(f"{self.where}: {len(self.lines)} problems\n  " + "\n  ".join(self.lines))
