"""Which tests `make quick` runs for a file that has changed."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[1]
ROOM_OF = runpy.run_path(str(ROOT / "scripts" / "quick.py"))["room_of"]


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("src/forebay/engine/limits/kernels.py", "tests/engine/limits"),
        ("src/forebay/policies/_kernels/slurm/pick.py", "tests/policies"),
        ("src/forebay/algorithms/queues/heap.py", "tests/algorithms/queues/test_heap.py"),
        ("src/forebay/errors.py", None),
        ("src/forebay/cli/run.py", "tests/cli/test_run.py"),
        ("tests/policies/test_plan.py", "tests/policies/test_plan.py"),
        ("tests/twins/comparisons.py", "tests/twins"),
        ("tests/conftest.py", None),
        ("docs/why.md", None),
        ("scripts/quick.py", None),
    ],
)
def test_a_file_brings_the_tests_of_its_room(tmp_path, name, room):
    for folder in ("tests/engine/limits", "tests/policies", "tests/algorithms/queues", "tests/cli", "tests/twins"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("tests/algorithms/queues/test_heap.py", "tests/cli/test_run.py"):
        (tmp_path / file).touch()
    assert ROOM_OF(name, tmp_path) == room
