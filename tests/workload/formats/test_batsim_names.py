"""Profile types by the names of other versions of Batsim: a file reads the same under each."""

import json

import pytest

from forebay.errors import InputError
from forebay.workload.formats import batsim

pytestmark = pytest.mark.small


def read(tmp_path, *profiles):
    """A workload whose only job, of two nodes, uses the last profile."""
    named = {f"p{k}": profile for k, profile in enumerate(profiles)}
    job = {"id": 1, "subtime": 0, "res": 2, "profile": list(named)[-1]}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"jobs": [job], "profiles": named}))
    return batsim.read(path)


@pytest.mark.parametrize(
    ("other", "usual"),
    [
        ({"type": "ptask"}, "parallel"),
        ({"type": "ParallelTaskProfile"}, "parallel"),
        ({"type": "msg_par"}, "parallel"),
        ({"type": "ptask_homogeneous"}, "parallel_homogeneous"),
        (
            {"type": "ptask_homogeneous", "generation_strategy": "defined_amount_used_for_each_value"},
            "parallel_homogeneous",
        ),
        (
            {"type": "ptask_homogeneous", "generation_strategy": "defined_amount_spread_uniformly"},
            "parallel_homogeneous_total",
        ),
        ({"type": "ParallelTaskHomogeneousProfile"}, "parallel_homogeneous"),
        (
            {"type": "ParallelTaskHomogeneousProfile", "generation_strategy": "DefinedAmountsSpreadUniformly"},
            "parallel_homogeneous_total",
        ),
        ({"type": "msg_par_hg"}, "parallel_homogeneous"),
        ({"type": "msg_par_hg_tot"}, "parallel_homogeneous_total"),
    ],
)
def test_other_names_mean_the_same(tmp_path, other, usual):
    amounts = {"cpu": [4.0, 4.0], "com": [0, 3, 3, 0]} if usual == "parallel" else {"cpu": 4.0, "com": 3.0}
    wanted = read(tmp_path, {"type": usual, **amounts}).jobs
    assert read(tmp_path, {**other, **amounts}).jobs.equals(wanted)


@pytest.mark.parametrize(
    ("delays", "sequence"), [("delay", "sequential_composition"), ("DelayProfile", "SequentialCompositionProfile")]
)
def test_sequences_have_other_names(tmp_path, delays, sequence):
    parts = {"repeat": 3, "seq": ["p0", "p0"]}
    wanted = read(tmp_path, {"type": "delay", "delay": 5}, {"type": "composed", **parts})
    found = read(tmp_path, {"type": delays, "delay": 5}, {"type": sequence, **parts})
    assert found.jobs["run_time"].to_list() == [30.0]
    assert found.phases.equals(wanted.phases)


@pytest.mark.parametrize("strategy", ["defined_amount", 3])
def test_an_unknown_strategy_is_refused(tmp_path, strategy):
    with pytest.raises(InputError, match="profile 'p0': unknown 'generation_strategy'"):
        read(tmp_path, {"type": "ptask_homogeneous", "cpu": 1, "com": 1, "generation_strategy": strategy})


@pytest.mark.parametrize("kind", ["trace_replay", "TraceReplayProfile", "forkjoin_composition", "send", "delai"])
def test_types_without_an_equal_here_are_refused_without_a_guess(tmp_path, kind):
    with pytest.raises(InputError) as caught:
        read(tmp_path, {"type": kind})
    assert str(caught.value).endswith(
        f"profile 'p0': type {kind!r} is not supported; these are: composed, data_staging, delay, parallel, "
        "parallel_homogeneous, parallel_homogeneous_pfs, parallel_homogeneous_total, ptask_on_storage_homogeneous"
    )


def test_a_type_that_is_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"type \['delay'\] is not supported"):
        read(tmp_path, {"type": ["delay"]})
