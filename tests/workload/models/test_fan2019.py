"""Large requests for a share of the jobs: how many, how large, and what is refused."""

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

TB = 10**12


def jobs(n):
    columns = {"id": np.arange(n), "submit": np.arange(n), "run_time": [60.0] * n, "nodes": [4] * n}
    return Workload("x", job_table(columns | {"walltime": [600.0] * n}), provenance=("made for a test",))


@pytest.mark.parametrize(("share", "least"), [(0.5, 5), (0.75, 5), (0.5, 20), (0.75, 20)])
def test_share_and_sizes(share, least):
    """Log-uniform: the mean is (b - a) / ln(b / a). Over 50,000 requests its standard error is below 0.4 %."""
    w = models.attach(jobs(100_000), [f"fan2019:share={share},least={least}TB"], 1)
    request = w.jobs["burst_buffer"].to_numpy()
    asked = request[request > 0]
    assert len(asked) / len(request) == pytest.approx(share, abs=0.006)
    assert asked.min() >= least * TB
    assert asked.max() <= 150 * TB
    assert asked.mean() / TB == pytest.approx((150 - least) / np.log(150 / least), rel=0.02)
    assert (request % 10**9 == 0).all()


@pytest.mark.parametrize("given", ["share=1.5", "least=0", "least=200TB", "most=nan"])
def test_what_makes_no_sense_is_refused(given):
    with pytest.raises(InputError, match="fan2019"):
        models.attach(jobs(3), [f"fan2019:{given}"], 1)
