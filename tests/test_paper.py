"""Tables for papers: whatever names hold, LaTeX and Markdown find as many columns, and the same text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from forebay._support.paper import _LATEX, Table, latex_text, markdown_text, one_line
from forebay.errors import InputError

pytestmark = pytest.mark.small

NAMES = st.text(st.characters() | st.sampled_from("\\&%$#_{}~^<>|[]*`-'\",. \n\t:;0123456789"), max_size=12)
TABLES = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(NAMES, min_size=n, max_size=n), min_size=1, max_size=4))
BACK = {found: mark for mark, found in _LATEX.items()} | {"{}": ""}
TOKEN = re.compile("|".join(map(re.escape, sorted(BACK, key=len, reverse=True))) + "|[^\\\\]")


def read_latex(text):
    """What LaTeX prints of a cell: commands that the writer knows, and text; nothing else may be there."""
    found, place = "", 0
    while place < len(text):
        token = TOKEN.match(text, place)
        assert token, f"{text[place:]!r} begins with a command that is not the writer's"
        assert token[0] in BACK or token[0] not in "&%$#_{}~^", f"{token[0]!r} is not escaped in {text!r}"
        found += BACK.get(token[0], token[0])
        place = token.end()
    return found


def read_markdown(text):
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def with_hyphens(text):
    """A minus is one as a character, too."""
    return one_line(text).replace("\N{MINUS SIGN}", "-")


@given(NAMES)
def test_latex_prints_what_was_given(text):
    assert with_hyphens(read_latex(latex_text(text))) == with_hyphens(text)


@given(NAMES)
def test_markdown_shows_what_was_given(text):
    found = markdown_text(text)
    assert read_markdown(found) == one_line(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|*_`<>]", re.sub(r"\\.", "", found))


@given(TABLES, st.sets(st.integers(0, 3)), NAMES)
def test_latex_is_balanced(rows, numbers, caption):
    titles, *body = rows
    lines = Table(titles, body, numbers).to_latex(caption, "tab:one").splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    text = re.sub(r"\\[{}\\]", "", "\n".join(lines))
    assert text.count("{") == text.count("}")
    for kind in ("table", "tabular"):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}") == 1
    columns = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[4])[1]
    assert columns == "".join("r" if place in numbers else "l" for place in range(len(titles)))
    assert [lines[place] for place in (5, 7, -3, -2)] == [
        *(r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"),
    ]
    shown = [lines[6], *lines[8:-3]]
    assert len(shown) == len(rows)
    for line, row in zip(shown, rows, strict=True):
        assert line.endswith(r" \\")
        cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
        assert [with_hyphens(read_latex(cell.strip())) for cell in cells] == [with_hyphens(cell) for cell in row]
        assert not line.startswith(("[", "*")), "the row before would take it for an argument"


@given(TABLES)
def test_markdown_has_as_many_cells_in_each_line(rows):
    titles, *body = rows
    head, ruler, *lines = Table(titles, body, (0,)).to_markdown().split("\n")[:-1]
    assert ruler == "|---:|" + "---|" * (len(titles) - 1)
    for line, row in zip([head, *lines], rows, strict=True):
        cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]
        assert [read_markdown(cell.strip()) for cell in cells] == [one_line(cell) for cell in row]


def test_markdown_says_what_it_rests_on():
    table = Table(["a"], [["b"]], caption="Of 5 % <all>.")
    bare = "| a |\n|---|\n| b |\n"
    assert table.to_markdown() == f"Of 5 % \\<all\\>.\n\n{bare}"
    assert table.to_markdown(caption="Mine*") == f"Mine\\*\n\n{bare}"
    assert table.to_markdown(caption="") == Table(["a"], [["b"]]).to_markdown() == bare


def test_what_latex_would_join_stays_apart():
    assert latex_text("a--b ''c'' ,,d") == "a-{}-b '{}'c'{}' ,{},d"
    assert latex_text("-5 % (-3 to +2), fcfs-3, 2025-03-01") == r"$-$5 \% ($-$3 to +2), fcfs-3, 2025-03-01"
    assert latex_text("[a] *b \N{PLUS-MINUS SIGN}") == r"{[}a] {*}b $\pm$"
    assert latex_text("node-\nhours of\nall") == "node-hours of all"


@pytest.mark.parametrize(
    ("caption", "label", "message"), [(None, "tab:a", "needs a caption"), ("a", "tab{a", "no label of LaTeX may have")]
)
def test_labels(caption, label, message):
    with pytest.raises(InputError, match=message):
        Table(["a"], [["b"]]).to_latex(caption, label)


def test_summaries_of_runs():
    runs = {"a & b": fb.simulate("table1", policy="fcfs"), "c|d": fb.simulate("table1", policy="fcfs-bb")}
    found = fb.report.table(runs)
    assert found.titles == (
        ["run", "mean wait", "p95 wait", "turnaround", "bounded slowdown", "nodes used", "burst buffer used"]
    )
    assert [row[:2] for row in found.rows] == [["a & b", "8 min"], ["c|d", "2 min 22 s"]]
    assert found.caption.startswith("8 jobs of table1 on table1 (4 nodes")
    assert found.caption.endswith("under 2 policies")
    assert r"a \& b" in found.to_latex()
    one = fb.report.table(runs["c|d"])
    assert dict(one.rows)["makespan"] == "11 min"
    assert one.caption.endswith("under fcfs-bb")
    for wrong, why in ((3, "what to sum up is 3"), ({}, "no run to sum up"), ({"a": 3}, "what to sum up is")):
        with pytest.raises(InputError, match=why):
            fb.report.table(wrong)
