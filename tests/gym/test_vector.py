"""Many environments at a time, in processes."""

import pytest

gymnasium = pytest.importorskip("gymnasium", reason='needs the extra "gym"')

from forebay.gym import vector  # noqa: E402


def test_two_processes():
    envs = vector(2, workload="table1", window=3, backfill=True)
    try:
        observed, info = envs.reset(seed=1)
        assert observed["jobs"].shape[:2] == (2, 3)
        assert info["action_mask"].shape == (2, 3)
        _, reward, over, _, _ = envs.step(info["action_mask"].argmax(axis=1))
        assert reward.shape == over.shape == (2,)
    finally:
        envs.close()
