"""A compiled policy in a user's own file runs again in a new process, from the cache."""

import json
import subprocess
import sys

import numba
import pytest

POLICY = """
import forebay as fb
from forebay.core.verbs import act_start


@fb.policy_kernel
def one_by_one(state, params, memory, rng):
    counts = state.counts[0]
    if counts["n_running"] == 0 and counts["n_queued"] > 0:
        i = counts["queue_first"]
        while state.queue[i] < 0:
            i += 1
        act_start(state, state.queue[i], 0)


class OneByOne(fb.Policy):
    def kernel(self):
        return one_by_one
"""
RUN = """
import sys
import forebay as fb
print(fb.simulate(fb.read("table1"), policy=sys.argv[1] + ":OneByOne").jobs["starting_time"].to_list())
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="with the compiler off there is no cache")
def test_again_in_a_new_process(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(POLICY)
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", RUN, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        starts = json.loads(done.stdout)
        assert starts[0] == 0
        assert sorted(set(starts)) == starts  # one after the other, in order of arrival
