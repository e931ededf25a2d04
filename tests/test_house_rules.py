"""Rules that no linter knows: read from the sources themselves."""

import ast
import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "forebay").rglob("*.py"))


def _lines(pattern: str, *, outside: tuple[str, ...]) -> list[str]:
    found = []
    for path in SOURCES:
        name = path.relative_to(ROOT / "src" / "forebay").as_posix()
        if not name.startswith(outside):
            found += [f"{name}: {line}" for line in path.read_text().splitlines() if re.search(pattern, line)]
    return found


def test_numba_is_configured_in_one_place():
    assert _lines(r"\bnjit\b|(?<!_)numba\.jit|guvectorize|fastmath|parallel=True", outside=("_numba/",)) == []


def test_only_the_command_line_prints():
    """But for examples in docstrings."""
    assert _lines(r"^(?! *(?:>>>|\.\.\. )).*(?<![\w.])print\(", outside=("cli/",)) == []


def test_no_module_has_a_random_generator_of_its_own():
    assert _lines(r"^\w+\s*=.*(default_rng|RandomState)|np\.random\.seed", outside=()) == [
        "core/tables.py: RNG = numba.typeof(np.random.default_rng(0))"
    ]


def test_counts_are_told_in_words_that_agree():
    """By `forebay._support.text.counted`: no "1 job(s)", and no choice between a job and jobs anywhere else."""
    assert _lines(r"[a-z]\((?:s|es|ies)\) |\{'' if \w+ == 1|== 1 else '?\w*s\b", outside=("_support/text.py",)) == []


def test_files_of_users_are_read_in_one_place():
    """By `_support.reading`, which waits for no pipe. Others read sources, assets, and what they made or found."""
    others = (
        "_numba/",
        "_run/compilation.py",
        "_support/own_file.py",
        "report/page.py",
        "report/_models.py",
        "_live/site.py",
    )
    of_runs = tuple(f"experiments/{name}.py" for name in ("claims", "execution/cluster", "store"))
    found = _lines(r"\.read_(?:text|bytes)\(|tomllib", outside=("_support/reading.py", *others, *of_runs))
    assert found == []


def test_tables_of_results_are_written_in_one_place():
    """By `forebay._support.text.write_csv`, which makes formulas harmless. Workloads have formats of their own."""
    assert _lines(r"\.write_csv\b|csv\.(?:writer|DictWriter)", outside=("_support/text.py", "workload/formats/")) == []


def test_functions_have_few_parameters():
    """Ten at most. Algorithms know no tables; and where each parameter is an option of users, there are as many."""
    too_many = []
    for path in SOURCES:
        name = path.relative_to(ROOT / "src" / "forebay").as_posix()
        if name.startswith("algorithms/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                n = len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
                if n > 10 and not (name.startswith("cli/") and node.name == "command"):
                    too_many.append((name, node.name))
    assert too_many == [
        ("engine/jobmodels/adhoc.py", "program"),
        ("experiments/api.py", "compare"),
        ("experiments/api.py", "capacity"),
        ("workload/models/burst_buffer.py", "attach"),
        ("workload/models/feitelson96.py", "generate"),
        ("workload/models/sas2019.py", "generate"),
    ]


def test_files_stay_small():
    too_long = [path.name for path in SOURCES if len(path.read_text().splitlines()) > 400]
    assert too_long == []


def test_tests_mirror_the_sources():
    """Every test folder has a source folder of the same name, but for the rooms of what all tests share."""
    rooms = {"cases", "constancy", "contract", "fuzz", "real_slurm", "twins"}
    packages = {path.parent.name for path in SOURCES}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders - packages - rooms == set()


def test_the_layout_gets_no_worse():
    """As scripts/structure.py counts it. Where one of these numbers has become smaller, write the smaller one here."""
    structure = runpy.run_path(str(ROOT / "scripts" / "structure.py"))
    most = {
        "crowded_folders": 1,
        "files_at_the_root": 4,
        "on_capabilities": 22,
        "import_circles": 0,
        "long_functions": 100,
        "many_parameters": 32,
        "words": 140,
    }
    found = structure["measure"]()._asdict()
    assert {name: count for name, count in found.items() if count > most.get(name, count)} == {}
