"""Where it is known what nodes draw, the schedule of a report has a lane for it."""

import json

import numpy as np
import pytest

import forebay as fb
from cases.pooled import workload
from forebay.report import write
from forebay.report._columns import unpack
from report.test_models import documents
from report.test_report import parts

pytestmark = pytest.mark.small


def test_power_is_a_lane_in_watts(tmp_path):
    """2 nodes of 100 W and 300 W: one busy to 10, both to 20, none behind."""
    machine = fb.Platform(name="m", nodes=2, power={"idle": 100, "busy": 300})
    rows = [{"id": k, "submit": 0.0 if k == 1 else 10.0, "walltime": 10.0 * k, "nodes": 1} for k in (1, 2)]
    rows[0]["walltime"] = 20.0
    rows[1]["walltime"] = 10.0
    fb.simulate(workload(rows), machine, "fcfs").save(tmp_path)
    page = write(tmp_path)
    _, data = parts(page)
    lanes = json.loads(data["data-schedule"])["lanes"]
    place, lane = next((place, lane) for place, lane in enumerate(lanes) if lane["unit"] == "W")
    assert lane["name"] == "power"
    columns = unpack(data["packed-run-0"])
    assert np.array_equal(columns[f"lane-{place}-time"], [0.0, 10.0, 20.0])
    assert np.array_equal(columns[f"lane-{place}-value"], [400.0, 600.0, 200.0])
    labels = [figure.left[0].axis_label for figure in documents(page)["plot-schedule"].roots[0].children]
    assert labels == ["node", "power\n(W)", "queue\n(jobs)"]
