"""Values out of parsed JSON, of the type asked for, or a message that says where and what.

Messages are put together only when needed: a file may have a million jobs.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from forebay.core.schemas import NAMED
from forebay.errors import InputError, brief

_INT64 = 2**63


def parse(data: bytes, where: str) -> Any:
    """The document in a file of JSON; `where` is what messages call it."""
    try:
        text = data.decode("utf-8-sig")
        document = json.loads(text)
        if re.search(r"\\u[dD][89a-fA-F]", text):  # half a pair of these is no character, and no file could hold it
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not text at byte {error.start}; write JSON in UTF-8") from None
    except UnicodeEncodeError:
        raise InputError(f"{where}: has half a character, such as \\ud83d without \\ude00; write whole ones") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{where}: {place}: not JSON ({error.msg}); is the file whole?") from None
    except RecursionError:
        raise InputError(f"{where}: not JSON that can be used: lists or objects nest too deep") from None
    except ValueError:  # what else the parser refuses
        raise InputError(f"{where}: not JSON that can be used: a number has thousands of digits") from None
    return document


def member(table: Mapping[str, Any], key: str, where: str) -> Any:
    """A key that must be there."""
    if key not in table:
        raise InputError(f"{where}: {key!r} is missing; add it")
    return table[key]


def number(value: Any, where: str, key: str) -> float:
    """A finite number; true and false are none, though Python thinks otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a finite number")
    return result


def whole(value: Any, where: str, key: str) -> int:
    """A whole number that fits 64 bits; 4.0 is one."""
    number(value, where, key)
    if value != int(value) or not -_INT64 <= value < _INT64:
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a whole number that fits 64 bits")
    return int(value)


def count(value: Any, where: str, key: str) -> int:
    """A whole number from 0 up."""
    result = whole(value, where, key)
    if result < 0:
        raise InputError(f"{where}: {key!r} is {result}; it must be a whole number from 0 up")
    return result


def text(value: Any, where: str, key: str) -> str:
    """Text, and nothing else."""
    if not isinstance(value, str):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be text")
    return value


def names_in(document: Mapping[str, Any], where: str) -> dict[str, dict[int, str]]:
    """What numbers of users, queues and the like stand for: `names`, an object for each column."""
    given = document.get("names", {})
    found: dict[str, dict[int, str]] = {}
    for column, names in given.items() if isinstance(given, dict) else [("", given)]:
        if not isinstance(names, dict) or column not in NAMED:
            raise InputError(
                f"{where}: 'names' has {brief(column)}: {brief(names)}; write an object for each of {', '.join(NAMED)}"
            )
        for key, name in names.items():
            if not re.fullmatch(r"[0-9]{1,18}", key) or not isinstance(name, str) or not name.strip():
                raise InputError(
                    f"{where}: 'names' calls {column} {brief(key)} {brief(name)}; give whole numbers a name that is "
                    "not empty"
                )
        found[column] = {int(key): name for key, name in names.items()}
    return found
