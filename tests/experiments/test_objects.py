"""Sweeps of objects: the same rows as the specs that name them, and names in the table."""

import sys
from dataclasses import dataclass, replace

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.experiments.objects.taken import taken
from forebay.experiments.sweep import RunsFailedError

pytestmark = pytest.mark.small
NUMBERS = ["mean_wait", "max_wait", "makespan", "utilisation_nodes"]


class Arrival:
    """In order of arrival; each job that fits starts."""

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)


@dataclass
class Some(Arrival):
    """The same, with parameters."""

    most: int = 9
    narrow: bool = False

    def decide(self, view, act):
        for job in view.queue[: self.most]:
            if act.fits(job):
                act.start(job)


@pytest.mark.usefixtures("runs_here")
def test_rows_are_those_of_specs():
    machine = fb.platform("table1").model_copy(update={"name": "small"})
    workload = replace(fb.read("table1"), name="mine")
    found = fb.sweep(workloads=[workload, "table1"], platforms=[machine, "table1"], policies=["fcfs-bb"], jobs=1)
    assert found["workload", "platform"].rows() == [
        (workload.name, machine.name), (workload.name, "table1"), ("table1", machine.name), ("table1", "table1"),
    ]  # fmt: skip
    assert found[NUMBERS].n_unique() == 1


def test_policies_of_one_s_own_beside_specs():
    found = fb.sweep(workloads=["table1"], policies=["filler", Arrival, Some(most=2)], jobs=2, reference="filler")
    assert found["policy"].to_list() == ["filler", "Arrival", "Some"]
    here = {name: fb.simulate("table1", policy=policy) for name, policy in (("Arrival", Arrival), ("Some", Some(2)))}
    for name, result in here.items():
        [row] = found.filter(policy=name)[NUMBERS].to_dicts()
        assert row == {name: result.summary[name] for name in NUMBERS}
    assert found.verdicts["policy"].unique().sort().to_list() == ["Arrival", "Some"]


@pytest.mark.usefixtures("runs_here")
def test_names_of_the_user_s_choice():
    found = fb.sweep(workloads=["table1"], policies={"easy": "fcfs-easy", "mine": Some(1), "two": Some(2)}, jobs=1)
    assert found["policy"].to_list() == ["easy", "mine", "two"]


def test_names_of_specs_with_parameters():
    found = fb.sweep(
        workloads=["table1"], policies={"mine": Some(1), "deep": "fcfs-bb:depth={depth}"}, parameters={"depth": [1, 2]},
        jobs=1,
    )  # fmt: skip
    assert found["policy", "depth"].rows() == [("mine", None), ("deep", 1), ("deep", 2)]
    with_label = fb.sweep(workloads=["table1"], policies=[Arrival, "deep=fcfs-bb:depth=2"], reference="deep", jobs=1)
    assert with_label["policy"].to_list() == ["Arrival", "deep"]


def test_a_name_that_no_label_can_be():
    """Specs under such a name stay in this process."""
    found = fb.sweep(workloads=["table1"], policies={"a=b, c": "fcfs-easy", "d:e": "fcfs"}, jobs=1)
    assert found["policy"].to_list() == ["a=b, c", "d:e"]


def test_two_policies_of_one_name_are_refused():
    with pytest.raises(InputError, match="policies: two are called 'b'; rename one"):
        fb.sweep(workloads=["table1"], policies=["b=fcfs-bb:depth=2", "b=fcfs"])


def test_an_object_is_never_taken_for_another(tmp_path):
    """A folder keeps runs; that of an object may have changed since."""
    keys = {"workloads": ["table1"], "output": tmp_path / "out", "jobs": 1}
    first = fb.sweep(policies=[Some(1)], **keys)
    second = fb.sweep(policies=[Some(9)], **keys)
    assert first["mean_wait"].to_list() != second["mean_wait"].to_list()


@pytest.mark.usefixtures("runs_here")
def test_a_machine_counts_by_what_it_is(tmp_path):
    keys = {"workloads": [fb.read("table1")], "policies": ["fcfs"], "output": tmp_path / "out", "jobs": 1}
    fb.sweep(platforms=[fb.platform("table1")], **keys)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").glob("*.json")}
    fb.sweep(platforms=[fb.platform("table1")], **keys)
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").glob("*.json")} == before
    wider = fb.platform("flat:nodes=9,burst_buffer=20TB").model_copy(update={"name": "table1"})
    assert fb.sweep(platforms=[wider], **keys)["makespan"].item() > 0
    assert len(list((tmp_path / "out" / "runs").glob("*.json"))) == len(before) + 1


@pytest.mark.usefixtures("runs_here")
def test_a_policy_in_a_file_goes_by_its_spec(tmp_path, monkeypatch):
    """Any process can have it, workers of a cluster too."""
    (tmp_path / "patient.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Patient:\n    most: int = 3\n"
        "    hurry: bool = False\n\n"
        "    def decide(self, view, act):\n        for job in view.queue[: self.most]:\n"
        "            if act.fits(job):\n                act.start(job)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import patient

    try:
        named, given = taken({"policies": [patient.Patient, patient.Patient(2, True)]}, tmp_path)
    finally:
        del sys.modules["patient"]
    file = tmp_path / "patient.py"
    assert named["policies"] == [f"Patient={file}:Patient", f"Patient 2={file}:Patient:most=2,hurry=true"]
    assert not given.marks
    found = fb.sweep(workloads=["table1"], policies=named["policies"], jobs=1)
    assert found["mean_wait"].n_unique() == 2
    assert found["policy"].to_list() == ["Patient", "Patient 2"]


def test_wrong_objects():
    with pytest.raises(InputError, match="decide"):
        fb.sweep(workloads=["table1"], policies=[object()])
    one = fb.read("table1")
    with pytest.raises(InputError, match="two among them are called 'table1'; give the object another name"):
        fb.sweep(workloads=[one, one], policies=["fcfs"])
    with pytest.raises(InputError, match="platforms"):
        fb.sweep(workloads=["table1"], policies=["fcfs"], platforms=[3])


def test_workers_elsewhere_cannot_have_an_object(monkeypatch):
    from forebay.experiments.execution import cluster

    monkeypatch.setattr(cluster, "_client", lambda *_: pytest.fail("it was asked for workers"))
    with pytest.raises(InputError, match="an object of this process, which workers cannot have; put it into a file"):
        fb.sweep(workloads=["table1"], policies=[Some(1)], dask="tcp://127.0.0.1:1")


@pytest.mark.usefixtures("runs_here")
def test_one_that_raises_is_named_and_others_are_kept(tmp_path):
    class Broken(Arrival):
        def decide(self, view, act):
            raise ValueError("no")

    with pytest.raises(RunsFailedError, match="Broken") as error:
        fb.sweep(workloads=["table1"], policies=[Broken, "fcfs"], output=tmp_path / "out", jobs=1)
    assert len(error.value.failed) == 1
    assert pl.read_parquet(tmp_path / "out" / "grid.parquet").height == 2
