"""Orders from outside, and a watch, beside a real Slurm whose clock runs 20 times as fast: see ordering.py."""

import pytest

from real_slurm import ordering, watching
from real_slurm.fast import lacking

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(lacking()), reason=f"not installed: {lacking()}; see scripts/install_slurm.sh fast"),
]


@pytest.mark.parametrize("mode", ["native", "plan-best"])
def test_the_third_of_table_1_starts_when_nodes_are_free(mode, tmp_path):
    """It needs 3 nodes, of which two are free after 4 and the third after 10 minutes; the fourth fits at once."""
    found = ordering.run("table1", mode, 1, tmp_path)
    assert found["failed"] == []
    starts = {name: start / 60 for name, start in found["starts"].items()}
    assert 9.5 < starts["J3"] < 10.6
    assert starts["J4"] < 2.5


def test_a_watch_asks_little_and_scores_itself(tmp_path):
    found = watching.run(4, tmp_path / "kept")
    asked = sum(
        found["rpcs"].get(f"REQUEST_{what}_INFO", 0) for what in ("JOB", "BUILD", "RESERVATION", "BURST_BUFFER")
    )
    assert asked <= 3 * 60 * found["hours_of_slurm"]  # nodes and partitions are sinfo's, too, as the cluster comes up
    assert found["calls_of_commands"] <= 4 * 60 * found["hours_of_slurm"] + 4
    assert found["failed"] == []
    assert found["reliability"][0]["jobs"] > 5
