"""The commands that the README and the docs show are run, and what they show is what comes out.

Commands of a page run in order, in one folder. The block of a file stands below a paragraph that names it and ends in a
colon: "This `mine.toml`:". Outputs are compared by words and numbers; `...` stands for what is left out. A console
block that begins with a comment is an example of what readers do with files or programs of their own: it is not run.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest

from forebay.cli.main import main

ROOT = Path(__file__).parents[1]
DATA = os.environ.get("FOREBAY_DATA")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w-]+\.\w+)`[^`]*:\n\n\Z")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.parent.name != "extend"  # carried out whole by test_guides.py
}
SLOW = (
    "study kopanski2021 --quick",
    "compare KTH-SP2-1996-2.1-cln.swf.gz --policies all",
    "compare KTH-SP2-1996-2.1-cln.swf.gz --policies fcfs-easy,sjf-easy,conservative",
    "compare kth.parquet.zip --platform dragonfly-96 --policies filler,fcfs-easy,fcfs-bb,sjf-bb --no-plots",
    "compare default --policies fcfs-bb,mine.py:InOrder",
    "compare default --policies fcfs-bb,sjf-bb,examples/own_policy.py:Patient:patience=96 --no-plots",
    "compare default --policies fcfs-bb,fcfs-bb:depth=3+limits:user_nodes=48,run_time=12h",
    "compare default --policies fcfs-easy,fcfs-bb -o out",
    "compare default --platform flat:nodes=96,burst_buffer=225GB --policies fcfs-easy,fcfs-bb,sjf-bb -o small",
    "compare default --platform flat:nodes=96,burst_buffer=900GB --policies fcfs-easy,fcfs-bb,sjf-bb -o large",
    "compare default --policies conservative,sfsj,steal:variant=113 --failures mtbf=1h,downtime=1h,checkpoint=300s",
    "plot out/fcfs-bb --figure gantt -o out",
    "check-policy compiled.py:Shortest",
    "check-policy shortest.py:Shortest",
    "check-policy picky.py:Picky",
    "check-policy by_hand.py:ByHand",
    "compare kth.parquet.zip --policies fcfs,fcfs-easy,fcfs-malleable,fcfs-malleable:when=idle -o out",
    "check-policy examples/own_policy.py:Patient:patience=0 --head-never-delayed",
    "compare ub.parquet.zip --vary bf_window=1440 --vary weights.Fairshare=0 --vary "
    "limits.qos.general-compute.MaxJobsPU=20 --vary classes.g.nodes=16 --vary classes.n.nodes=100 --replicas 0 "
    "--no-bounds --no-plots --top 2 -o ub.compared -q",
    "capacity ub.parquet.zip --vary classes.g.nodes --range 8:32 --target p95_wait[gpus > 0] <= 60h --replicas 3 "
    "-o ub.sized -q",
    "run ub.parquet.zip -o ub.run -q",
    "explain ub.run --worst 2 -q",
    "capacity default --platform flat:nodes=96,burst_buffer=480GB --job-model alloc-only --target mean_wait <= 3h -q",
)
"""Commands that only the full run waits for: they draw thousands of jobs, or repeat what other tests do."""

TRACES = {
    "KTH-SP2-1996-2.1-cln.swf.gz": "swf/KTH-SP2-1996-2.1-cln.swf.gz",
    "intrepid.swf.gz": "swf/ANL-Intrepid-2009-1_first1185.swf.gz",
    "ub.events.gz": "ub/workload_5k.events.gz",
    "ub.conf": "ub/slurm.conf",
    "ub-sacctmgr.txt": "ub/sacctmgr.script",
}
"""Names on pages, and the files of the reference data that they stand for."""


def steps(text):
    """What a page asks for, in order: a file (name, content), or a command (words, output shown)."""
    for block in BLOCK.finditer(text):
        named = NAMED.search(text[: block.start()].split("```")[-1])
        if block[1] == "console" and not block[2].startswith("# "):
            for shown in re.split(r"^\$ ", block[2].replace("\\\n", " "), flags=re.MULTILINE)[1:]:
                line, _, output = shown.partition("\n")
                yield shlex.split(line), output
        elif named and block[1] in ("text", "toml", "json", "python"):
            yield named[1], block[2]


def tokens(text):
    """Words and numbers: what counts of an output."""
    return re.findall(r"[\w.+%/:=-]+", re.sub(r"[\u2500-\u257f]", " ", text))


def matches(shown, printed):
    """Whether the printed text is the one shown, with anything in place of each `...`."""
    pattern = " ".join(r".*?" if token == "..." else re.escape(token) for token in tokens(shown))
    return re.fullmatch(pattern.replace(".*? ", "(.* )?").replace(" .*?", "( .*)?"), " ".join(tokens(printed)))


def run(words):
    """What a command prints, both streams, and its exit code."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as left:
        main(words)
    return printed.getvalue(), left.value.code


def trace(path):
    """600 jobs for 64 nodes in 40 days, three of them too wide, and 500 of one user on one day."""
    lines = ["; MaxProcs: 64"]
    jobs = [(i * 5760, 80 if i % 200 == 0 else 4, 1 + i % 20) for i in range(600)]
    jobs += [(20 * 86400 + i, 1, 99) for i in range(500)]
    for number, (submit, nodes, user) in enumerate(sorted(jobs), 1):
        lines.append(f"{number} {submit} -1 600 {nodes} -1 -1 {nodes} 900 -1 1 {user} 1 -1 -1 -1 -1 -1")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what the pages take for granted: traces, and the examples of the source tree."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    trace(tmp_path / "trace.swf")
    for name, source in TRACES.items() if DATA else ():
        (tmp_path / name).symlink_to(Path(DATA) / source)
    yield tmp_path
    for number, handler in before.items():
        signal.signal(number, handler)


def carry_out(text, folder, monkeypatch, slow):
    missing = set() if DATA else set(TRACES)
    for what, content in steps(text):
        if isinstance(what, str):
            (folder / what).write_text(content, encoding="utf-8")
            continue
        assert what[0] == "forebay", f"$ {shlex.join(what)}: tests run forebay alone; begin the block with a comment"
        if missing & set(what):
            missing |= {word for word in what if "." in word}  # nor is there what it would have written
            continue
        if not slow and " ".join(what[1:]) in SLOW:
            continue
        monkeypatch.setenv("COLUMNS", "240" if any(len(line) > 112 for line in content.splitlines()) else "100")
        begun = time.perf_counter()
        printed, code = run(what[1:])
        print(f"{time.perf_counter() - begun:5.1f} s  {shlex.join(what)}")
        assert code == 0 or "forebay:" in content, f"$ {shlex.join(what)}\n{printed}"
        if content.strip():
            assert matches(content, printed), f"$ {shlex.join(what)}\nprints\n{printed}"


WITH_COMMANDS = [name for name, text in PAGES.items() if any(not isinstance(what, str) for what, _ in steps(text))]


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_print_what_is_shown(page, folder, monkeypatch):
    carry_out(PAGES[page], folder, monkeypatch, slow=False)


@pytest.mark.full
@pytest.mark.parametrize("page", [page for page in WITH_COMMANDS if any(line in PAGES[page] for line in SLOW)])
def test_slow_commands_print_what_is_shown(page, folder, monkeypatch):
    carry_out(PAGES[page], folder, monkeypatch, slow=True)


def test_slow_commands_are_shown_somewhere():
    shown = {" ".join(what[1:]) for text in PAGES.values() for what, _ in steps(text) if not isinstance(what, str)}
    assert set(SLOW) - shown == set()


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ forebay workload list\nworkload what it is\n...\ntable2\n...\n```\n",
        "```console\n$ forebay run tabel1\n```\n",
        "```console\n$ make run\n```\n",
        "This `a.toml`:\n\n```toml\nnodes = 0\n```\n\n```console\n$ forebay platforms a.toml\n```\n",
    ],
)
def test_a_wrong_page_is_found(page, folder, monkeypatch):
    with pytest.raises(AssertionError):
        carry_out(page, folder, monkeypatch, slow=False)
