"""Kinds of input that whole commands are given: each makes an arena's files from a generator, and runs a command or two
on them."""

import json
import os
import random
import re
import socket
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from forebay.errors import InputError
from fuzz import mutate, projects, seeds
from fuzz.commands import Arena

Kind = Callable[[Random, Arena], int]

fields = {word: partial(mutate.spoil_lines, delimiter=word) for word in (" ", "|", ",", "=")}

TRACE = b"""; MaxProcs: 8
; UnixStartTime: 1700000000
1 0 -1 5 2 -1 -1 2 9 -1 1 1 1 -1 1 1 -1 -1
2 1 -1 7 4 -1 -1 4 9 -1 1 2 1 -1 2 1 -1 -1
3 1 -1 3 8 -1 -1 8 9 -1 1 1 2 -1 1 1 1 2
4 2 -1 9 1 -1 -1 1 5 -1 1 3 2 -1 2 1 -1 -1
5 6 -1 2 6 -1 -1 6 9 -1 5 3 1 -1 1 1 -1 -1
"""

SITE = b"""name = "site"
speed = "2 Gflop/s"
policy = "fcfs"
[classes.cpu]
nodes = 6
cores = 4
memory = "16 GB"
features = ["old"]
names = "n[1-6]"
[classes.gpu]
nodes = 2
cores = 8
memory = "64 GB"
gpus = 2
gpu = "v100"
weight = 5
[partitions.all]
nodes = "all"
default = true
max_time = "4 d"
[partitions.short]
classes = ["cpu"]
nodes = "0-3"
max_time = "20 min"
max_nodes = 3
max_jobs = 2
priority_tier = 2
state = "down"
changes = [{ at = "5 s", state = "up" }]
[partitions.gpu]
classes = ["gpu"]
[[limits]]
account = "physics"
GrpTRES = "node=4,gres/gpu=2"
MaxSubmitPerUser = 3
[[limits]]
partition = "all"
MaxJobsPerUser = 2
GrpTRESRunMins = "node=1000"
MaxWall = "2-00:00:00"
[[reservations]]
name = "service"
start = "4 s"
duration = "3 s"
nodes = "6-7"
flags = ["maint"]
[[reservations]]
name = "course"
start = 2
end = 8
nodes = 2
users = ["1"]
[accounts.physics]
shares = 3
[accounts.theory]
parent = "physics"
shares = 2
users = { ann = 2, bob = "parent" }
[tiers.burst_buffer]
kind = "shared-bb"
capacity = "10 TB"
"""

SWEEP = b"""workloads = ["t.swf", "table1"]
platforms = ["flat:nodes={nodes}"]
policies = ["fcfs", "fcfs-bb:depth={depth}"]
seeds = 1
window = "0s:9d"
reference = "fcfs"
job_models = ["alloc-only"]
[[generators]]
spec = "lublin99:jobs=4,nodes=8"
[parameters]
depth = [1, 2]
nodes = [16]
"""

COLUMNS = (
    *(
        "deadline",
        "own:deadline",
        "own:nodes",
        "own:id",
        "own:",
        "x y",
        "log",
        "time",
        "state",
        "job_id",
        "gpus",
        "cores",
    ),
    *(
        "parts",
        "placing",
        "final_state",
        "starting_time",
        "waiting_time",
        "tasks",
        "memory",
        "exclusive",
        "array",
        "het",
    ),
    *("running_since", "recorded_start", "eligible_time", "cancel", "submit", "nodes", "queue", "features", "account"),
    *(
        "licences",
        "burst_buffer",
        "resource",
        "amount",
        "kind",
        "reason",
        "links",
        "é",
        "_",
        "__class__",
        "None",
        "1st",
    ),
    *("array_task", "array_limit", "run_alone", "planned_time", "total_wait", "turnaround_time", "allocated_resources"),
)
"""Names that mean something somewhere, or nothing anywhere."""


def _strange(rng: Random) -> str:
    return rng.choice([*mutate.TOKENS, "9" * 300, "y" * 100_000, "1,2", "[1, 2]", '{"a": 1}', "1.5 GB", "-3", "0"])


def toml(rng: Random, data: bytes) -> bytes:
    """Text with a key, a value or a line changed; now and then twice."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        data = rng.choice([mutate.spoil, _value, _value, _line, _number, _number, _number, fields["="]])(rng, data)
    return data


def _number(rng: Random, data: bytes) -> bytes:
    """Another number, of which most can be."""
    places = list(re.finditer(rb"\d+", data))
    if not places:
        return data
    at = rng.choice(places)
    return data[: at.start()] + rng.choice([b"0", b"1", b"2", b"3", b"5", b"7", b"8", b"40"]) + data[at.end() :]


def _value(rng: Random, data: bytes) -> bytes:
    """Another value behind an `=`: a word, a number, a list, or what another key has."""
    lines = data.decode("utf-8", "replace").split("\n")
    with_keys = [k for k, line in enumerate(lines) if "=" in line] or [0]
    k = rng.choice(with_keys)
    token = rng.choice(mutate.TOKENS[:-20])
    other = lines[rng.choice(with_keys)].partition("=")[2].strip()
    values = [
        json.dumps(token), token, "[]", "{}", "[[]]", f"[{json.dumps(token)}]", "true", "0", "-1", "nan", "inf",
        "1e400", "2024-01-31", '""', f"{{ at = {other or 1}, state = 'up' }}", other, f"[{other}]", str(2**63),
        '"0-99"', '"all"',
    ]  # fmt: skip
    lines[k] = f"{lines[k].partition('=')[0]}= {rng.choice(values)}"
    return "\n".join(lines).encode("utf-8", "replace")


def _line(rng: Random, data: bytes) -> bytes:
    """A line missing, twice, elsewhere, or an unknown one."""
    lines = data.decode("utf-8", "replace").split("\n")
    k, m = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[k]
    elif kind == 1:
        lines.insert(m, lines[k])
    elif kind == 2:
        lines.insert(m, lines.pop(k))
    elif kind == 3:
        lines.insert(
            k, rng.choice(["power = 0", "[power]", "nodes = 0", "unknown = 1", "[classes.none]", "[[limits]]"])
        )
    else:
        del lines[min(k, m) : max(k, m)]
    return "\n".join(lines).encode("utf-8", "replace")


def site(rng: Random, arena: Arena) -> int:
    """A platform of a site."""
    arena.fill({"t.swf": TRACE, "site.toml": toml(rng, SITE)})
    words = ["run", "in/t.swf", "--platform", "in/site.toml", "-o", "out", "-q"]
    if rng.random() < 0.3:
        words = ["platforms", "in/site.toml"]
    return arena.run(*words)


def sweep(rng: Random, arena: Arena) -> int:
    """What a sweep is to run."""
    text = toml(rng, SWEEP)
    if b"jobs=4" not in text and b"lublin" in text:  # it may ask for very many
        text = SWEEP.replace(b"seeds = 1", b"seeds = " + rng.choice(mutate.TOKENS).encode("utf-8", "replace"))
    arena.fill({"t.swf": TRACE, "sweep.toml": text})
    return arena.run("sweep", "in/sweep.toml", "-o", "out", "--no-report", "-q")


def _files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@cache
def results() -> dict[str, dict[str, bytes]]:
    """What commands wrote, whole."""
    with TemporaryDirectory() as name:
        arena = Arena(Path(name).resolve())
        arena.fresh()
        arena.fill({"t.swf": TRACE, "site.toml": SITE, "sweep.toml": SWEEP})
        found = {}
        for kind, words in {
            "run": ("run", "in/t.swf", "--platform", "in/site.toml", "-q"),
            "sweep": ("sweep", "in/sweep.toml", "-q"),
        }.items():
            if arena.run(*words, "-o", f"out/{kind}"):
                raise AssertionError(f"{words} is refused")
            found[kind] = _files_of(arena.out / kind)
        return found


def _tampered(rng: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """A file or two changed, cut, emptied, exchanged or missing."""
    files = dict(files)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(sorted(files))
        ways = {".json": mutate.spoil_json, ".csv": fields[","], ".parquet": mutate.spoil_parquet}
        kind = rng.randrange(12)
        if kind == 0:
            del files[name]
        elif kind == 1:
            files[name] = files[rng.choice(sorted(files))]
        elif kind == 2:
            files[name] = b""
        elif kind == 3:
            files[name] = mutate.spoil(rng, files[name])
        else:
            try:
                files[name] = ways.get(Path(name).suffix, mutate.spoil)(rng, files[name])
            except (ValueError, InputError):  # it is another one's by now
                files[name] = mutate.spoil(rng, files[name])
        if not files:
            break
    return files


def result(rng: Random, arena: Arena) -> int:
    """A folder of `forebay run`, tampered with, for those that read it."""
    whole = results()["run"]
    arena.fill(_tampered(rng, whole), "in/a")
    arena.fill(whole, "in/b")
    words: list[str] = rng.choice(
        [
            ["explain", "in/a"], ["explain", "in/a", "3"], ["explain", "in/a", "--worst", "2", "--format", "json"],
            ["diverge", "in/a", "in/b"], ["diverge", "in/b", "in/a", "--format", "json"],
            ["report", "in/a", "-o", "out/report.html"], ["report", "in/a", "-o", "out/report.html"],
            ["plot", "in/a", "--figure", "waits", "-o", "out"],
        ]
    )  # fmt: skip
    arena.out.mkdir()
    return arena.run(*words)


def sweep_folder(rng: Random, arena: Arena) -> int:
    """A folder of `forebay sweep`, tampered with, for a page of it or to go on in it."""
    arena.fill({"t.swf": TRACE, "sweep.toml": SWEEP})
    arena.fill(_tampered(rng, results()["sweep"]), "out")
    if rng.random() < 0.6:
        return arena.run("report", "out")
    return arena.run("sweep", "in/sweep.toml", "-o", "out", "-q", "--no-report")


def elastisim(rng: Random, arena: Arena) -> int:
    """A project of ElastiSim's."""
    files = dict(projects.PROJECT)
    name = rng.choice(sorted(files))
    ways = (
        [mutate.spoil, fields["="]] if name.endswith(".xml") else [mutate.spoil_json, mutate.spoil_json, mutate.spoil]
    )
    files[name] = rng.choice(ways)(rng, files[name])
    arena.fill(files)
    return arena.run("elastisim", "in/configuration.json", "--policy", "fcfs-malleable", "-o", "out", "-q")


def sidecar(rng: Random, arena: Arena) -> int:
    """A table beside a trace with unknown columns and values of any kind; then a run of what came of it."""
    names = ["id", "burst_buffer", "priority", *rng.sample(COLUMNS, rng.choice([0, 1, 1, 2, 4]))]
    if rng.random() < 0.1:
        names[rng.randrange(1, len(names))] = _strange(rng)
    few = rng.choice([["1", "2", "3"], ["1", "2", "0", "7.5", "a"]])
    rows = [[str(job), "40", "1.5", *(rng.choice(few) for _ in names[3:])] for job in range(1, 6)]
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        rows[rng.randrange(5)][rng.randrange(len(names))] = _strange(rng)
    text = "\n".join(",".join(row) for row in [names, *rows]).encode("utf-8", "replace")
    arena.fill({"t.swf": TRACE, "side.csv": mutate.spoil(rng, text) if rng.random() < 0.2 else text})
    made = "out/made" + rng.choice([".parquet.zip", ".parquet.zip", ".swf", ".json", ".sacct"])
    arena.out.mkdir()
    code = arena.run("workload", "convert", "in/t.swf", made, "--sidecar", "in/side.csv")
    return code or arena.run("run", made, "--platform", rng.choice(PLATFORMS), "-o", "out/run", "-q")


PLATFORMS = ("flat:nodes=8,burst_buffer=10TB", "flat:nodes=8")


def jobs(rng: Random, arena: Arena) -> int:
    """Jobs in JSON with further keys and values of any kind."""
    original = rng.choice([seeds.BATSIM, seeds.BATSIM_5])
    document = json.loads(json.dumps(original))
    tables = [*document["jobs"], *document["profiles"].values(), document]
    for _ in range(rng.choice([1, 1, 2, 3])):
        one = rng.choice(tables)
        key = rng.choice([*COLUMNS, *one]) if rng.random() < 0.9 else _strange(rng)
        one[key] = rng.choice([*mutate.JSON_VALUES, _strange(rng), _strange(rng)])
    if rng.random() < 0.3:
        document = mutate.spoil_tree(rng, original)
    arena.fill({"w.json": mutate.json_bytes(rng, document)})
    return arena.run("run", "in/w.json", "--platform", rng.choice(PLATFORMS), "--policy", "fcfs", "-o", "out", "-q")


HUGE = 2**40
"""Bytes of a file that has none on the disk."""

READERS: tuple[tuple[str, ...], ...] = (
    ("run", "{}", "-q"),
    ("run", "in/t.swf", "--platform", "{}.toml", "-q"),
    ("run", "in/t.swf", "--failures", "{}.csv", "-q"),
    ("workload", "info", "{}"),
    ("workload", "convert", "{}", "out/x.swf"),
    ("workload", "convert", "in/t.swf", "out/x.swf", "--sidecar", "{}"),
    ("workload", "convert", "in/t.swf", "out/x.swf", "--join", "{}"),
    ("workload", "split", "{}", "2", "-o", "out"),
    ("platforms", "{}.toml"),
    ("sweep", "{}.toml", "-o", "out"),
    ("elastisim", "{}.json", "--policy", "fcfs"),
    ("explain", "{}"),
    ("diverge", "{}", "in/run"),
    ("report", "{}", "-o", "out/r.html"),
    ("plot", "{}", "-o", "out"),
    ("run", "in/t.swf", "--policy", "{}.py:Mine"),
    ("fidelity", "{}", "-q"),
)
WRITERS: tuple[tuple[str, ...], ...] = (
    ("run", "in/t.swf", "-q", "-o", "{}"),
    ("workload", "convert", "in/t.swf", "{}.swf"),
    ("workload", "split", "in/t.swf", "2", "-o", "{}"),
    ("sweep", "in/sweep.toml", "-q", "--no-report", "-o", "{}"),
    ("report", "in/run", "-o", "{}.html"),
    ("plot", "in/run", "--figure", "waits", "-o", "{}"),
    ("elastisim", "in/configuration.json", "--policy", "fcfs", "-q", "-o", "{}"),
)


def _make_special(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(HUGE)
    elif kind == "huge gzip":
        with path.open("wb") as file:
            file.write(b"\x1f\x8b\x08")
            file.truncate(HUGE)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            here = os.open(".", os.O_RDONLY)  # an address of a socket is short
            os.chdir(path.parent)
            one.bind(path.name)
            os.fchdir(here)
            os.close(here)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind != "nothing":
        path.symlink_to({"loop": path, "broken": path.with_name("nowhere")}.get(kind, Path(kind)))


SPECIAL = (
    *("pipe", "folder", "huge", "huge gzip", "socket", "empty", "loop", "broken", "nothing"),
    *("/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem", "/proc/self/maps", "/proc/self", "/"),
)


def special(rng: Random, arena: Arena) -> int:
    """What is no file in place of one: to read, or to write."""
    reads = rng.random() < 0.7
    words = rng.choice(READERS if reads else WRITERS)
    kind = rng.choice(SPECIAL if reads else SPECIAL[:-2])
    arena.fill({"t.swf": TRACE, "sweep.toml": SWEEP, **projects.PROJECT})
    arena.fill(results()["run"], "in/run")
    arena.out.mkdir()
    name = "in/special" if reads else rng.choice(["out/special", "out/special/deeper", "in/special"])
    words = tuple(word.replace("{}", name) for word in words)
    asked = next(word for word in words if word.startswith(name)).partition(":")[0]
    path = arena.folder / asked
    if "deeper" in name:
        path = path.parent
    _make_special(kind, path)
    if reads and kind == "folder" and rng.random() < 0.5:  # a folder of results in which something is no file
        arena.fill(results()["run"], asked)
        inner = path / rng.choice(sorted(results()["run"]))
        inner.unlink()
        _make_special(rng.choice(SPECIAL), inner)
    may = () if reads else (path, arena.folder / "in" / "nowhere")
    return arena.run(*words, may_write=may)


def links(rng: Random, arena: Arena) -> int:
    """A folder to write to in which links lead out of it: nothing behind them changes."""
    arena.fill({"t.swf": TRACE, "sweep.toml": SWEEP, **projects.PROJECT})
    arena.fill(results()["run"], "in/run")
    words = tuple(word.replace("{}", "out/here") for word in rng.choice(WRITERS))
    whole = results()["sweep" if words[0] == "sweep" else "run"]
    if rng.random() < 0.5:
        arena.fill(whole, "out/here")
    (arena.out / "here").mkdir(parents=True, exist_ok=True)
    arena.fill(
        {"file": b"theirs\n", "run.json": whole.get("run.json", b"{}"), "folder/inner": b"theirs\n"}, "elsewhere"
    )
    names = [*whole, *LINKED]
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(names)
        place = arena.out / "here" / rng.choice([name, str(Path(name).parent) if "/" in name else name])
        if place == arena.out / "here" or any(parent.is_symlink() for parent in place.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            continue
        place.unlink(missing_ok=True)
        target = rng.choice(["file", "run.json", "folder", "absent", "kept.txt"])
        place.symlink_to(
            rng.choice([arena.elsewhere / target, Path(os.path.relpath(arena.elsewhere / target, place.parent))])
        )
    return arena.run(*words)


LINKED = (
    *("jobs.csv", "jobs.parquet", "log.parquet", "run.json", "links.csv", "report.html", "sweep.csv", "sweep.parquet"),
    *("verdicts.csv", "runs", "waits.svg", "waits.csv", "job_statistics.csv", "t-1.swf", "t.1.swf", "held.parquet"),
)

KINDS: dict[str, Kind] = {
    "site": site, "sweep": sweep, "result": result, "sweep-folder": sweep_folder, "elastisim": elastisim,
    "sidecar": sidecar, "jobs": jobs, "special": special, "links": links,
}  # fmt: skip


def run_case(kind: str, number: int, arena: Arena) -> int:
    """One input: the exit code of its command."""
    arena.fresh()
    rng = random.Random(f"{kind} {number}")
    return KINDS[kind](rng, arena)
