"""Build the documentation site: python scripts/build_site.py site. Any warning fails.

docs/ is plain Markdown that GitHub shows as well, and Sphinx wants all its sources in one folder. So they are put there
first: docs/, and what its pages link to outside of it, by its path in the repository. A linked file that is no page is
shown as code, and can be downloaded from there. Navigation and the explanations of Python names are added on the way.
The site needs no server and no network: its pages open from disk.
"""

import dataclasses
import importlib
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
STUDIES = "src/forebay/studies"
PICTURES = (".svg", ".png")

NAVIGATION = {
    "index.md": {
        "Try it": [
            "tutorial/five-minutes.md",
            "reference/report.md",
            "reference/figures.md",
            "reference/metrics.md",
            "reference/verdicts.md",
            "reference/explain.md",
            "guides/coming-from.md",
        ],
        "Decide about a machine": [
            "guides/for-operators.md",
            "guides/beside-slurm.md",
            "reference/slurm-conf.md",
            "reference/fidelity.md",
            "reference/what-ifs.md",
            "reference/workload-io.md",
            "guides/burst-buffer-size.md",
            "reference/capacity.md",
            "reference/failures.md",
            "guides/malleable-jobs.md",
        ],
        "Write a policy": [
            "guides/write-a-policy.md",
            "guides/cookbook.md",
            "guides/stepping.md",
            "reference/bounds.md",
            "how-a-run-works.md",
            "guides/learning.md",
            "guides/extend.md",
        ],
        "Reproduce or write a paper": [
            "reference/studies.md",
            "reference/papers.md",
            "guides/compare-in-python.md",
            "reference/models.md",
            "reference/sweep.md",
            "guides/own-metrics.md",
            "guides/paper.md",
            "reference/results.md",
        ],
        "Look something up": [
            "reference/command-line.md",
            "reference/policies/README.md",
            "reference/platforms.md",
            "reference/sharing.md",
            "reference/power.md",
            "reference/formats.md",
            "reference/learn.md",
            "reference/predict.md",
            "reference/dependencies.md",
            "reference/elastisim.md",
            "reference/job-models.md",
            "reference/adhoc.md",
            "glossary.md",
        ],
        "Python": [
            f"reference/api/{name}.md" for name in ("forebay", "workload", "machines", "answers", "adhoc", "gym")
        ],
        "The project": [
            "benchmarks/RESULTS.md",
            "reference/stability.md",
            "architecture.md",
            "why.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "SECURITY.md",
        ],
    },
    "guides/write-a-policy.md": {"": ["guides/write-a-policy/more.md", "guides/write-a-policy/check.md"]},
    "reference/metrics.md": {"": ["reference/metrics/in-python.md"]},
    "reference/results.md": {"": ["reference/results/comparison.md", "reference/results/loading.md"]},
    "reference/command-line.md": {
        "": [f"reference/command-line/{name}.md" for name in ("run", "answers", "workload", "lists", "slurm")]
    },
    "why.md": {"": [f"why/{name}.md" for name in ("engine", "compiled", "data", "policies", "answers")]},
    "guides/extend.md": {"": [f"guides/extend/{name}.md" for name in ("policies", "machines", "workloads", "answers")]},
    "reference/platforms.md": {
        "": [f"reference/platforms/{name}.md" for name in ("presets", "tiers", "networks", "classes", "site")]
    },
    "reference/formats.md": {
        "": [
            f"reference/formats/{name}.md"
            for name in (
                "swf",
                "sacct",
                "slurm-events",
                "philly",
                "batsim",
                "wfcommons",
                "tables",
                "job-tables",
                "writing",
                "odd-jobs",
                "names-and-dates",
                "operations",
            )
        ]
    },
    "reference/models.md": {
        "": [f"reference/models/{name}.md" for name in ("jobs", "io-jobs", "burst-buffers", "io", "users")]
    },
    "reference/job-models.md": {
        "": [f"reference/job-models/{name}.md" for name in ("io-aware", "tiered", "application", "legs-and-phases")]
    },
    "reference/policies/README.md": {
        "": [
            f"reference/policies/{name}.md"
            for name in (
                "backfill",
                "plan",
                "predicted",
                "window",
                "cerberus",
                "tiers",
                "slurm",
                "preemption",
                "multifactor",
                "slurm-bb",
                "malleable",
                "intensity",
                "io-schedulers",
                "steal",
                "limits",
            )
        ]
    },
    "reference/studies.md": {
        "": [
            f"{STUDIES}/{name}/README.md"
            for name in (
                "kopanski2021",
                "cerberus2016",
                "bbsched2019",
                "sas2019",
                "admire2023_mebf",
                "admire2023_io",
                "sfsj2022",
                "hercules2023",
            )
        ]
    },
}
"""Page to caption to the pages below it."""

CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
API_NAME = re.compile(r"^- `(forebay[\w.]*)`$", re.MULTILINE)


def target(page: Path, link: str) -> Path | None:
    """The file of the repository that a link on this page leads to, if any."""
    if re.match(r"[a-z]+:", link):
        return None
    path = Path(os.path.normpath(page.parent / link))
    return path if path.is_relative_to(ROOT) and path.is_file() else None


def found() -> list[Path]:
    """The pages of docs/, all that stands in the navigation, and whatever these link to."""
    seen: set[Path] = set()
    named = [ROOT / name for below in NAVIGATION.values() for names in below.values() for name in names]
    waiting = [*DOCS.rglob("*.md"), *(path for path in named if path.is_file())]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            if page.suffix == ".md":
                links = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
                waiting += [path for path in (target(page, link) for link in links) if path]
    return sorted(seen)


def place(path: Path) -> str:
    """Where a file stands on the site: docs/ is its root."""
    name = path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT).as_posix()
    return name if path.suffix in (".md", *PICTURES) else f"{name}.md"


def moved(page: Path, text: str) -> str:
    """The text of a page with links to where their files stand on the site."""

    def link(match: re.Match[str]) -> str:
        path = target(page, match[1])
        return os.path.relpath(place(path), Path(place(page)).parent) if path else match[0]

    parts, last = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(link, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, LINK.sub(link, text[last:])])


def explained(name: str) -> str:
    """The explanation of a Python name, from its docstring."""
    try:
        thing = importlib.import_module(name)
    except ImportError:
        module, _, attribute = name.rpartition(".")
        thing = getattr(importlib.import_module(module), attribute)
    kind = "module" if inspect.ismodule(thing) else "class" if inspect.isclass(thing) else "function"
    title = f"## {name.removeprefix('forebay.') if kind != 'module' else name}"
    options = "" if kind == "function" else "   :members:\n"
    if kind == "class":
        fields = dataclasses.is_dataclass(thing) or issubclass(thing, Enum)  # their names say enough
        options += "   :undoc-members:\n" if fields else "   :exclude-members: model_config\n"
    return f"{title}\n\n```{{eval-rst}}\n.. auto{kind}:: {name}\n{options}```\n"


def notebook(text: str) -> str:
    """The cells of a notebook, and what they print."""
    blocks = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        blocks.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        printed = "".join(line for output in cell.get("outputs", []) for line in output["text"])
        blocks += [f"```text\n{printed}```"] if printed else []
    return "\n\n".join(blocks)


def downloadable(path: Path, copy: Path) -> str:
    """A link to the file itself, which is put beside the page that shows it."""
    shutil.copy(path, copy.parent / path.name)
    return f"{{download}}`Download {path.name} <{path.name}>`"


def navigation(page: str) -> str:
    """The tables of contents of what stands below a page."""
    blocks = ["\n"]
    for caption, names in NAVIGATION.get(page, {}).items():
        entries = "\n".join(os.path.relpath(name, Path(page).parent) for name in names)
        titled = f":caption: {caption}\n" if caption else ""
        blocks.append(f"```{{toctree}}\n:hidden:\n{titled}\n{entries}\n```\n")
    return "\n".join(blocks)


def assemble(folder: Path) -> None:
    """Put all sources of the site into one folder."""
    shutil.copy(DOCS / "conf.py", folder)
    shutil.copytree(DOCS / "static", folder / "static")
    for path in found():
        copy = folder / place(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in PICTURES:
            shutil.copy(path, copy)
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            text = API_NAME.sub(lambda name: explained(name[1]), moved(path, text)) + navigation(place(path))
        elif path.suffix == ".ipynb":
            title, rest = notebook(text).split("\n", 1)
            text = f"---\norphan: true\n---\n{title}\n\n{downloadable(path, copy)}\n{rest}\n"
        else:
            title = f"# {place(path)[:-3]}\n\n{downloadable(path, copy)}"
            text = f"---\norphan: true\n---\n{title}\n\n````{path.suffix[1:]}\n{text}````\n"
        copy.write_text(text, encoding="utf-8")


def main(site: str) -> int:
    """Assemble, build, and say how it went."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as work:
        sources = Path(work) / "sources"
        sources.mkdir()
        assemble(sources)
        shutil.rmtree(site, ignore_errors=True)
        doctrees = f"{work}/doctrees"
        return sphinx(["-q", "-b", "html", "-d", doctrees, "--fail-on-warning", "--keep-going", str(sources), site])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
