"""What `forebay slurm advise` prints, given to a shell beside a real Slurm: the order comes about, and goes again."""

import subprocess

import pytest

from forebay._live.advise import text
from forebay._live.advise.order import order_advice
from forebay._live.commands import Slurm
from forebay._live.snapshot import moment
from real_slurm.cluster import Cluster, missing
from real_slurm.test_agent import _priorities, _until

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}; see scripts/install_slurm.sh"),
]


def test_the_order_comes_about_and_goes_again(tmp_path):
    with Cluster(tmp_path / "slurm", 2, "bf_interval=2") as cluster:
        cluster.submit("first", 2, 60, 3000)
        _until(lambda: not _priorities(cluster), 60)
        for name, minutes in (("long", 30), ("middle", 10), ("short", 2)):
            cluster.submit(name, 2, minutes, 1)
        before = _priorities(cluster)
        assert list(before) == ["long", "middle", "short"]
        slurm = Slurm(more={"SLURM_CONF": str(tmp_path / "slurm" / "slurm.conf")})
        advice = order_advice(moment(slurm), "plan-2", [], 4, 0)
        lines = "\n".join(text.order_lines(advice))
        subprocess.run(["sh"], input=lines, text=True, check=True, env=slurm.environment())
        assert list(_priorities(cluster)) == ["short", "middle", "long"]
        undo = "\n".join(one.undo for one in advice.lines)
        subprocess.run(["sh"], input=undo, text=True, check=True, env=slurm.environment())
        assert _priorities(cluster) == before
