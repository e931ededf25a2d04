"""XML without its dangers: elements and attributes with their lines; nothing is fetched, nothing is expanded."""

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from forebay.errors import InputError, brief

MAX_DEPTH = 50


@dataclass(frozen=True)
class Element:
    """A tag, its attributes and what it contains; text between tags means nothing in platforms."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: "list[Element]" = field(default_factory=list)


def parse(data: bytes, where: str) -> Element:
    """The outermost element of a document. A DOCTYPE may name a file, which is not looked at."""
    parser = expat.ParserCreate()
    around: list[Element] = [Element("", {}, 0)]

    def refuse(what: str) -> NoReturn:
        raise InputError(f"{where}:{parser.CurrentLineNumber}: {what}")

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(around) > MAX_DEPTH:
            refuse(f"tags nest deeper than {MAX_DEPTH}")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        around[-1].children.append(element)
        around.append(element)

    def entity(name: str, *_: object) -> NoReturn:
        refuse(f"declares the entity {brief(name)}; write out what it stands for")

    def skipped(name: str, *_: object) -> NoReturn:
        refuse(f"names the entity {brief(name)}, which is not known here; write out what it stands for")

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: around.pop()
    parser.EntityDeclHandler = entity
    parser.SkippedEntityHandler = skipped
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise InputError(f"{where}:{error.lineno}: not XML ({what}); is the file whole?") from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        raise InputError(f"{where}: not XML that can be read ({error}); save it as UTF-8") from None
    return around[0].children[0]
