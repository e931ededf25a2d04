"""Where jobs share nodes they are given cores, and a report says so."""

import json

import numpy as np
import pytest

import forebay as fb
from cases.shared import jobs, machine
from forebay.platforms import Reservation
from forebay.report import write
from forebay.report._columns import unpack
from report.test_models import documents
from report.test_report import parts

pytestmark = pytest.mark.small


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    service = Reservation(name="service", start=20.0, duration=5.0, nodes="1")
    inside = {"nodes": 2, "cores": 4, "memory": "8 GB", "gpus": 1, "gpu": "a"}
    platform = machine(inside, reservations=(service,))
    rows = jobs({"cores": 3, "gpus": 1}, {"cores": 3, "memory": 10**9}, {"cores": 1, "gpus": 1})
    fb.simulate(rows, platform, "filler").save(folder)
    return write(folder)


def test_nodes_are_called_cores(page):
    words, data = parts(page)
    assert json.loads(data["data-schedule"])["unit"] == "core"
    assert "number of cores" in words
    assert "number of nodes" not in words
    lanes = documents(page)["plot-schedule"].roots[0].children
    assert lanes[0].left[0].axis_label == "core"


def test_gpus_have_a_lane_of_their_own(page):
    _, data = parts(page)
    lanes = json.loads(data["data-schedule"])["lanes"]
    place, lane = next((place, lane) for place, lane in enumerate(lanes) if lane["unit"] == "GPUs")
    assert lane["capacity"] == 2
    steps = unpack(data["packed-run-0"])[f"lane-{place}-value"]
    assert np.max(steps) == 2  # two jobs have one each
    assert steps[-1] == 0


def test_what_is_reserved_is_shaded(page):
    """Node 1 has cores 4 to 7."""
    words, _ = parts(page)
    assert "Shaded cores are reserved (service)." in words
    shaded = documents(page)["plot-schedule"].roots[0].children[0].renderers[0].data_source.data
    assert {name: list(edge) for name, edge in shaded.items()} == {
        "left": [20.0], "right": [25.0], "top": [3.5], "bottom": [7.5]
    }  # fmt: skip
