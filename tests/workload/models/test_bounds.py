"""Parameters of models out of range: refused by name, before any work is done or memory taken."""

import pytest

from forebay.errors import InputError
from forebay.workload import models
from fuzz import seeds
from fuzz.check import check_message

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("lublin99:jobs=0", "jobs is 0; give a number from 1 up"),
        ("lublin99:jobs=1000000000000", "jobs is 1000000000000; give 10,000,000 at most"),
        ("lublin99:jobs=100000000", "jobs is 100000000; give 10,000,000 at most, or set the variable FOREBAY_MAX_JOBS"),
        ("lublin99:jobs=" + "9" * 400, "jobs is 9999"),
        ("lublin99:nodes=4", "nodes is 4; give a number from 8 up"),
        ("feitelson96:nodes=1000000000", "nodes is 1000000000; give 10,000,000 at most"),
        ("lublin99:load=nan", "load is nan"),
        ("lublin99:load=-1", "load is -1; give a number from 0 up"),
        ("lublin99:longest=inf", "longest is inf"),
        ("feitelson96:short=1.5", "short is 1.5; give a share from 0 to 1"),
    ],
)
def test_parameters_of_models_out_of_range(spec, says):
    with pytest.raises(InputError) as caught:
        models.generate(spec, 1)
    assert f"model {spec.partition(':')[0]!r}: {says}" in str(caught.value)
    check_message(caught.value, ())


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "feitelson96:jobs=100,repeats=9000,repeat_order=0",
            r"feitelson96': its jobs have \d\d\d,\d\d\d runs, 500 at m",
        ),
        ("feitelson96:jobs=101", "jobs is 101; give 100 at most"),
        (
            "sas2019:jobs=100,data=0.9,memory=1MB,writes=1000",
            r"sas2019': its jobs have [\d,]+ phases, 1,000 at most; lo",
        ),
    ],
)
def test_what_would_not_fit_in_memory_is_refused(monkeypatch, spec, says):
    """Many jobs, or few of which each has very much."""
    monkeypatch.setenv("FOREBAY_MAX_JOBS", "100")
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "1000")
    with pytest.raises(InputError, match=says):
        models.generate(spec, 1)
    monkeypatch.setenv("FOREBAY_MAX_JOBS", "200000")
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "200000")
    assert len(models.generate(spec, 1)) > 0


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("burst-buffer:servers=9223372036854775808", "servers is 9223372036854775808; give"),
        ("burst-buffer:most=1e30", "most is 1e+30; give"),
        ("io-phases:bandwidth=5e-324", "bandwidth is 5e-324; give 0, or at least 1e-15"),
    ],
)
def test_parameters_of_attached_models_out_of_range(spec, says):
    with pytest.raises(InputError, match=says.replace("+", r"\+")):
        models.attach(seeds.trace(), [spec], 1)
