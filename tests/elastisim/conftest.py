"""Projects of ElastiSim: made on the spot, or those that FOREBAY_DATA has. Without it, tests of these are skipped."""

import json
import os
from pathlib import Path

import pytest

from forebay.elastisim import jobs, platform

XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="World" routing="Full">
  <cluster id="C" prefix="n_" radical="0-15" suffix="" speed="100Gf" bw="100Gbps" lat="{latency}">{props}</cluster>
 </zone>
</platform>
"""


@pytest.fixture
def cases() -> Path:
    """The folder of projects that ElastiSim has run."""
    folder = os.environ.get("FOREBAY_DATA")
    if not folder:
        pytest.skip("FOREBAY_DATA does not name the folder of reference data")
    return Path(folder) / "elastisim"


@pytest.fixture
def machine(tmp_path):
    """A crossbar of 16 nodes with these properties."""

    def machine(latency="50us", **props):
        path = tmp_path / "platform.xml"
        told = "".join(f'<prop id="{key}" value="{props[key]}"/>' for key in props)
        path.write_text(XML.format(latency=latency, props=told))
        return platform.read(path)

    return machine


@pytest.fixture
def read(tmp_path):
    """The workload of one job, whose model is given as it stands in JSON."""

    def read(model, machine=None, clip=True, **job):
        (tmp_path / "model.json").write_text(json.dumps(model))
        filled = {"type": "rigid", "submit_time": 0, "application_model": "model.json"} | job
        if filled["type"] == "rigid":
            filled = {"num_nodes": 4} | filled
        else:
            filled = {"num_nodes_min": 2, "num_nodes_max": 5} | filled
        (tmp_path / "jobs.json").write_text(json.dumps({"jobs": [filled]}))
        return jobs.read(tmp_path / "jobs.json", machine, clip)

    return read
