"""The page of a study: published numbers beside ours, its figures, and how to repeat it."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forebay._support.reading import read_bytes
from forebay.report import _inputs, tables
from forebay.report._document import read_answer
from forebay.report._folder import words_of
from forebay.report.page import Page, Section, escaped

NAME = "study.json"


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay study` wrote."""
    document = read_answer(folder / NAME)
    pictures = [folder / "figures" / Path(name).name for name in document["figures"]]
    detailed = "".join(f"<h3>{escaped(one['title'])}</h3>{_table(one)}" for one in document["detailed"])
    inputs = [("study", document["study"]), ("sections", ", ".join(document["sections"]))]
    sections = [
        *(Section(one["title"], _table(one)) for one in document["shown"]),
        *_figures([path for path in pictures if path.is_file()]),
        *([Section("Every part", f"<details><summary>All tables</summary>{detailed}</details>")] if detailed else []),
        Section(
            "Inputs",
            tables.pairs([*inputs, *_inputs.versions(document)])
            + "".join(map(tables.paragraph, document["notes"]))
            + _inputs.again_by(words_of(document)),
        ),
    ]
    return Page(document["title"], sections)


def _table(one: Mapping[str, Any]) -> str:
    return tables.table(one["columns"], one["rows"], range(int(one["words"]), len(one["columns"])))


def _figures(paths: list[Path]) -> list[Section]:
    """Pictures as images: no script of theirs runs, and names in one do not meet those in another."""
    if not paths:
        return []
    shown = [
        f'<figure class="picture"><img loading="lazy" alt="{escaped(_words(path))}" '
        f'src="data:image/svg+xml;base64,{b64encode(read_bytes(path)).decode()}">'
        f"<figcaption>{escaped(_words(path))}</figcaption></figure>"
        for path in paths
    ]
    return [Section("Figures", f'<div class="pair">{"".join(shown)}</div>')]


def _words(path: Path) -> str:
    return path.stem.replace("-", " ").replace("_", " ")
