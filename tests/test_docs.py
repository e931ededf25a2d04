"""The documentation holds: links lead somewhere, Python prints what is shown, commands parse, policies are found.

A Python block whose first line is `# runs` is executed; `# runs with pandas` only where that package is installed. The
blocks of a page run in order and share their names, in a folder where `forebay run table1 -o out` has been run. A text
block directly below shows what the block prints; frames of tables and spaces do not count.
"""

import contextlib
import importlib
import importlib.util
import io
import re
import shlex
from pathlib import Path

import pytest
import typer

from forebay import policies
from forebay.cli.main import app, main
from forebay.core.codes import FINAL_STATE, LogKind, LogReason
from forebay.core.tables import JOB

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[1]
POLICIES = ROOT / "docs" / "reference" / "policies"
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "src" / "forebay" / "studies").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RUNS = re.compile(r"# runs(?: with (\w+))?$", re.MULTILINE)

by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def prose(page):
    """A page without its blocks and code."""
    return re.sub(r"`[^`\n]*`", "code", BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchors(page):
    """What headings can be linked to, named as GitHub names them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    found = []
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return found


def python_blocks(page):
    """Runnable blocks with the package each needs and the output shown, if any."""
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    text = page.read_text(encoding="utf-8")
    for place, block in enumerate(blocks):
        marked = RUNS.match(block[2])
        if block[1] == "python" and marked:
            after = blocks[place + 1] if place + 1 < len(blocks) else None
            shown = after and after[1] == "text" and not text[block.end() : after.start()].strip()
            yield block[2], marked[1], after[2] if shown else None


def commands(page):
    """Every `forebay ...` of the console blocks, without prompt, pipes and redirections."""
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            for line in re.findall(r"^\$ (.*)$", body.replace("\\\n", " "), re.MULTILINE):
                lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
                lexer.whitespace_split = True
                words = list(lexer)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    del words[0]
                if words and words[0] == "forebay":
                    stop = (k for k, word in enumerate(words) if set(word) <= set("|;&<>"))
                    yield line, words[1 : next(stop, len(words))]


def page_of(policy):
    """The page of a policy's family, by the table of all presets."""
    rows = re.findall(
        r"^\| \[([\w-]+)\]\(([\w-]+\.md)#([\w-]+)\) \|", (POLICIES / "README.md").read_text(), re.MULTILINE
    )
    found = [page for name, page, anchor in rows if name == anchor == policy]
    assert len(found) == 1, f"docs/reference/policies/README.md: the table of presets needs one row of {policy}"
    return POLICIES / found[0]


def values_shown(page):
    """(preset, parameter, value) for all that the tables of presets on a page say; an empty cell says nothing."""
    columns = None
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if not cells:
            columns = None
        elif cells[0] == "preset":
            columns = [cell.strip("`") for cell in cells]
        elif columns and not line.startswith("|--"):
            for column, cell in zip(columns[1:], cells[1:], strict=True):
                pairs = re.findall(r"`(\w+)=(.+?)`", cell) if column == "others" else [(column, cell)] if cell else []
                yield from ((cells[0], name, value) for name, value in pairs)


def tokens(text):
    """Words and numbers: what counts of an output."""
    return re.findall(r"[\w.+-]+", re.sub(r"[\u2500-\u257f]", " ", text))


def parse(words):
    """Parse a command line as forebay would, down to its last command, and carry nothing out."""
    command, name, context = typer.main.get_command(app), "forebay", None
    while True:
        context = command.make_context(name, list(words), parent=context, resilient_parsing=False)
        if not hasattr(command, "commands"):
            return
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not rest:
            return
        name, command, words = command.resolve_command(context, rest)


@by_page
def test_links_lead_somewhere(page):
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page}: {target} does not exist"
        if anchor:
            assert anchor in anchors(file), f"{page}: {target} names no heading of {file.name}"


@pytest.mark.parametrize("name", policies.names())
def test_every_policy_is_on_the_page_of_its_family(name):
    page = page_of(name)
    assert name in anchors(page), f"{page.name} has no heading {name}"
    behind = {page, *(page.parent / target for target in re.findall(r"\((\w+\.md)#parameters\)", page.read_text()))}
    named = set(re.findall(r"`(\w+)`", "".join(one.read_text(encoding="utf-8") for one in behind)))
    assert set(policies.describe(name)["parameters"]) <= named


@pytest.mark.parametrize(
    "page", sorted({*POLICIES.glob("*.md")} - {POLICIES / "README.md"}), ids=lambda page: page.stem
)
def test_tables_of_presets_hold_their_values(page):
    for preset, parameter, shown in values_shown(page):
        assert preset in policies.names()
        value = policies.describe(preset)["parameters"][parameter]
        assert shown == (f"{value:g}" if isinstance(value, float) else str(value).lower()), (preset, parameter)


def test_tables_of_presets_are_read():
    assert ("fcfs", "max_backfill", "0") in set(values_shown(POLICIES / "backfill.md"))


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@by_page
def test_nobody_is_sent_to_an_index_that_has_no_forebay(page):
    assert "pip install forebay" not in page.read_text(encoding="utf-8")


def test_every_word_of_a_result_is_explained():
    page = (ROOT / "docs" / "reference" / "results.md").read_text(encoding="utf-8")
    words = {*FINAL_STATE.values(), *(code.name.lower() for codes in (LogKind, LogReason) for code in codes)}
    assert sorted(word for word in words if f"`{word}`" not in page) == []


def test_every_column_that_a_policy_sees_of_jobs_is_explained():
    page = (ROOT / "docs" / "guides" / "write-a-policy.md").read_text(encoding="utf-8")
    section = page.split("### The columns of view.jobs")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", "".join(first))) == sorted(JOB.names)


def test_the_glossary_is_in_order():
    words = re.findall(r"^\*\*(.+?)\.\*\* ", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    keys = [re.sub(r"[^a-z ]", " ", word.lower()) for word in words]
    assert len(keys) > 100
    assert keys == sorted(set(keys))


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference" / "api").glob("*.md"))
    shown = set(re.findall(r"^- `(forebay[\w.]*)`$", pages, re.MULTILINE))
    packages = (
        "forebay",
        *(f"forebay.{name}" for name in ("workload", "platforms", "policies", "figures", "testing", "adhoc")),
    )
    for module in map(importlib.import_module, packages):
        for name in set(module.__all__) - {"KINDS", "RULES", "JOB_SCHEMA", "LEG_SCHEMA", "PHASE_SCHEMA"}:
            path = f"{module.__name__}.{name}"
            there = {path, path.rpartition(".")[0], f"forebay.{name}"} & (shown - {"forebay"})
            assert there, f"docs/reference/api lacks {path}"


@by_page
def test_commands_parse(page):
    for line, words in commands(page):
        try:
            parse(words)
        except typer.Exit:  # --help and --version
            continue
        except Exception as error:
            why = error.format_message() if hasattr(error, "format_message") else repr(error)
            pytest.fail(f"{page}: $ {line}\n{why}")


@pytest.mark.parametrize("line", ["forebay rnu table1", "forebay run table1 --polcy fcfs", "forebay workload splt x 3"])
def test_a_command_that_does_not_exist_is_found(tmp_path, line):
    page = tmp_path / "page.md"
    page.write_text(f"```console\n$ {line}\n```\n")
    with pytest.raises(pytest.fail.Exception):
        test_commands_parse(page)


@pytest.mark.parametrize("page", [page for page in PAGES if any(python_blocks(page))], ids=lambda page: page.stem)
def test_python_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as left:
        main(["run", "table1", "-o", "out"])
    assert left.value.code == 0
    names = {"__name__": page.stem}
    for source, package, shown in python_blocks(page):
        if package and importlib.util.find_spec(package) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, f"{page.name}", "exec"), names)
        if shown is not None:
            assert tokens(printed.getvalue()) == tokens(shown), f"{page}:\n{source}\nprints\n{printed.getvalue()}"
