"""What the tests of studies share: the authors' data or none, and a study carried out."""

import os
from pathlib import Path

import pytest

from forebay.experiments import sweep
from forebay.experiments.execution import executor
from forebay.experiments.store import Store
from forebay.studies import load
from forebay.studies._write import write_report


@pytest.fixture
def no_data(monkeypatch):
    monkeypatch.delenv("FOREBAY_DATA", raising=False)


@pytest.fixture
def data():
    if not os.environ.get("FOREBAY_DATA"):
        pytest.skip("FOREBAY_DATA is not set: the authors' files are not here")
    return Path(os.environ["FOREBAY_DATA"])


@pytest.fixture
def carried_out(tmp_path):
    """A function that carries a study out and gives its report, and the files written."""

    def carry_out(name, wanted):
        plan = load(name).plan(wanted)
        store = Store(tmp_path)
        sweep.warm_up({run.policy: None for run in plan.runs})
        sweep.carry_out(plan.runs, store, executor.here)
        report = plan.report(sweep.records(plan.runs, store))
        return report, write_report(plan, report, tmp_path)

    return carry_out
