"""Whatever stands in a file, a reader gives a valid result or refuses with a message; nothing else ever happens.

A case is a kind of input and a number, nothing more: `run_case("swf", 17, folder)` repeats it anywhere.
"""

import gc
import re
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from forebay import platforms, policies
from forebay.core import units
from forebay.core.units import parse_period
from forebay.errors import InputError
from forebay.results import load
from forebay.workload import _sidecar, models, read
from forebay.workload.operations import attach_table, filter_jobs, parse_condition
from fuzz import mutate, seeds, sites
from fuzz.check import check_message, check_platform, check_result, check_workload

# Of a processor, for one case: a hundred times what a case takes, as only a read that explodes shall be caught here,
# never a slow machine.
SECONDS = 10.0
MEMORY = 512 * 2**20  # bytes, for all cases of one test

Mutation = Callable[[Random, bytes], bytes]


def _mixed(*ways: Mutation) -> Mutation:
    """One of these ways, sometimes followed by another."""

    def change(rng: Random, data: bytes) -> bytes:
        made = rng.choice(ways)(rng, data)
        return mutate.spoil(rng, made) if rng.random() < 0.1 else made

    return change


fields = {word: partial(mutate.spoil_lines, delimiter=word) for word in (" ", "|", ",", "=")}
swf = _mixed(mutate.spoil, fields[" "], fields[" "])
batsim = _mixed(mutate.spoil, mutate.spoil_json, mutate.spoil_json, mutate.spoil_json)
toml = _mixed(mutate.spoil, fields["="], fields["="])

# Kind of input -> names it may have, valid files, how to spoil them. Where a name tells no format, the content must.
WORKLOADS: dict[str, tuple[tuple[str, ...], Callable[[], tuple[bytes, ...]], Mutation]] = {
    "swf": (("w.swf", "w.txt"), lambda: (seeds.SWF,), swf),
    "swf-resources": (("w.swf",), lambda: (seeds.SWF_RESOURCES,), swf),
    "swf-gz": (("w.swf.gz", "w"), lambda: (seeds.gz(seeds.SWF),), partial(mutate.spoil_gzip, inner=swf)),
    "batsim": (("w.json", "w.txt"), lambda: (seeds.json_file(seeds.BATSIM), seeds.json_file(seeds.BATSIM_5)), batsim),
    "wfcommons": (
        ("w.json", "w"),
        lambda: (seeds.json_file(seeds.WFFORMAT), seeds.json_file(seeds.WFFORMAT_OLD)),
        batsim,
    ),
    "sacct": (("w.sacct", "w.txt"), lambda: (seeds.SACCT,), _mixed(mutate.spoil, fields["|"], fields["|"])),
    "sacct-csv": (("w.csv", "w.sacct"), lambda: (seeds.SACCT_CSV,), _mixed(mutate.spoil, fields[","], fields[","])),
    "sacct-json": (
        ("w.json", "w.sacct", "w"),
        lambda: (seeds.json_file(seeds.SACCT_JSON), seeds.json_file(seeds.SACCT_JSON_OLD)),
        _mixed(mutate.spoil, mutate.spoil_json, mutate.spoil_json, mutate.spoil_json),
    ),
    "events": (("w.events", "w.txt"), lambda: (seeds.EVENTS,), _mixed(mutate.spoil, fields[" "], fields["="])),
    "parquet": (("w.parquet.zip", "w.zip"), seeds.packed_workloads, mutate.spoil_zip),
}


def _workload(kind: str, rng: Random, folder: Path) -> None:
    names, originals, change = WORKLOADS[kind]
    path = folder / rng.choice(names)
    path.write_bytes(change(rng, rng.choice(originals())))
    try:
        found = read(path, cancelled=rng.choice(["drop", "keep"]), skip_bad_lines=rng.random() < 0.3)
    except InputError as error:
        check_message(error, (path.name,))
        raise
    check_workload(found, folder, rng, begins_at_0=kind != "parquet")


def _sidecar_table(parquet: bool, rng: Random, folder: Path) -> None:
    path = folder / ("side.parquet" if parquet else "side.csv")
    csv = _mixed(mutate.spoil, fields[","], fields[","], fields[","])
    path.write_bytes(mutate.spoil_parquet(rng, seeds.sidecar_parquet()) if parquet else csv(rng, seeds.SIDECAR))
    try:
        found = attach_table(seeds.trace(), _sidecar.load(path), path.name)
    except InputError as error:
        check_message(error, (path.name,))
        raise
    check_workload(found, folder, rng)


def _platform(rng: Random, folder: Path) -> None:
    path = folder / "mine.toml"
    path.write_bytes(toml(rng, rng.choice([seeds.PLATFORM, seeds.FLAT_PLATFORM])))
    try:
        found = platforms.load(path)
    except InputError as error:
        check_message(error, (path.name,), length=3000)  # all problems at once
        raise
    check_platform(found)


def _result(rng: Random, folder: Path) -> None:
    files = dict(seeds.run_folder())
    name = rng.choice([*files, "run.json", "jobs.parquet"])
    ways = {".json": mutate.spoil_json, ".csv": fields[","], ".parquet": mutate.spoil_parquet}
    kind = rng.randrange(10)
    files[name] = (mutate.spoil if kind == 0 else ways[Path(name).suffix])(rng, files[name])
    if kind == 1:
        del files[name]
    run = folder / "run"
    run.mkdir(exist_ok=True)
    for old in run.iterdir():
        old.unlink()
    for name, data in files.items():
        (run / name).write_bytes(data)
    try:
        found = load(run)
    except InputError as error:
        check_message(error, ("run",))
        raise
    check_result(found)


def _filtered(text: str) -> None:
    trace = seeds.staged()
    filter_jobs(trace, parse_condition(text, trace.jobs.columns))


def _model(text: str) -> None:
    """Only small workloads are made: it is the spec that is tried out here."""
    if not re.search(r"\d{4}|e", text.partition("=")[2]):
        models.generate(text, seed=1)
    else:
        models._parsed(text)


SPECS: dict[str, Callable[[str], object]] = {
    "platform": lambda text: check_platform(platforms.load(text)),
    "model": _model,
    "policy": policies.load,
    "period": lambda text: parse_period(text, "--slice"),
    "condition": _filtered,
    "bytes": units.parse_bytes,
    "rate": units.parse_rate,
    "flops": units.parse_flops,
    "seconds": units.parse_seconds,
}


def _spec(rng: Random, folder: Path) -> None:
    kind = rng.choice(list(SPECS))
    data = rng.choice(seeds.SPECS[kind]).encode()
    for _ in range(rng.choice([1, 1, 2])):
        data = rng.choice([mutate.spoil, fields["="], fields[","]])(rng, data)
    text = data.decode("utf-8", "replace")
    try:
        SPECS[kind](text)
    except InputError as error:
        check_message(error, (), length=1000 + 5 * len(repr(text)), printable=False)  # it shows what the user typed
        raise


CASES: dict[str, Callable[[Random, Path], None]] = {
    **{kind: partial(_workload, kind) for kind in WORKLOADS},
    "sidecar-csv": partial(_sidecar_table, False),
    "sidecar-parquet": partial(_sidecar_table, True),
    "platform": _platform,
    "result": _result,
    "spec": _spec,
    "site": sites.case,
}


def run_case(kind: str, number: int, folder: Path) -> bool:
    """One mutated input: whether it was read (True) or refused (False); anything else is raised."""
    gc.disable()  # what earlier tests left in this process is not this case's to collect
    before = time.process_time()
    try:
        CASES[kind](Random(f"{kind} {number}"), folder)
        done = True
    except InputError:
        done = False
    finally:
        gc.enable()
    seconds = time.process_time() - before
    assert seconds < SECONDS, f"took {seconds:.1f} s"
    return done


def _peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def run_cases(kind: str, numbers: range, folder: Path) -> tuple[int, int]:
    """How many of these were read, and how many refused."""
    memory = _peak()
    read = 0
    for number in numbers:
        try:
            read += run_case(kind, number, folder)
        except BaseException as error:  # panics of compiled libraries are no Exceptions
            if isinstance(error, KeyboardInterrupt):
                raise
            raise AssertionError(f"run_case({kind!r}, {number}, folder): {type(error).__name__}: {error}") from error
    assert _peak() - memory < MEMORY, f"run_cases({kind!r}, {numbers}) took {(_peak() - memory) >> 20} MiB"
    return read, len(numbers) - read


@pytest.mark.parametrize("numbers", [range(50), pytest.param(range(50, 170), marks=pytest.mark.full)], ids=str)
@pytest.mark.parametrize("kind", CASES)
def test_mutated_input_is_read_or_refused_with_a_message(kind, numbers, tmp_path, capfd):
    read, refused = run_cases(kind, numbers, tmp_path)
    assert capfd.readouterr() == ("", "")  # compiled libraries print of their own
    assert read  # else the mutations are too wild to reach beyond the first checks
    assert refused


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", CASES)
def test_many_more_are(kind, part, tmp_path, capfd):
    first = 1_000_000 + 500 * part
    run_cases(kind, range(first, first + 500), tmp_path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", WORKLOADS)
def test_what_mutations_start_from_is_read(kind, tmp_path):
    names, originals, _ = WORKLOADS[kind]
    for number, data in enumerate(originals()):
        for name in names:
            (tmp_path / name).write_bytes(data)
            check_workload(read(tmp_path / name), tmp_path, Random(number))


def test_so_is_all_else_that_they_start_from(tmp_path):
    (tmp_path / "side.csv").write_bytes(seeds.SIDECAR)
    (tmp_path / "side.parquet").write_bytes(seeds.sidecar_parquet())
    for name in ("side.csv", "side.parquet"):
        check_workload(attach_table(seeds.trace(), _sidecar.load(tmp_path / name)), tmp_path, Random(0))
    for data in (seeds.PLATFORM, seeds.FLAT_PLATFORM):
        (tmp_path / "mine.toml").write_bytes(data)
        check_platform(platforms.load(tmp_path / "mine.toml"))
    (tmp_path / "run").mkdir()
    for name, data in seeds.run_folder().items():
        (tmp_path / "run" / name).write_bytes(data)
    check_result(load(tmp_path / "run"))
    for kind, texts in seeds.SPECS.items():
        for text in texts:
            if not text.startswith(("nowhere.toml", "mine.py")):
                SPECS[kind](text)
