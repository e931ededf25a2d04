"""Configurations: what they say, where files are looked for, and what cannot be done."""

import json

import pytest

from forebay.elastisim import configuration
from forebay.errors import InputError

pytestmark = pytest.mark.small

GIVEN = {
    "jobs_file": "jobs.json",
    "platform_file": "data/platform.xml",
    "zmq_url": "ipc://here",
    "schedule_on_job_submit": True,
    "schedule_on_job_finalize": True,
    "schedule_on_scheduling_point": True,
    "scheduling_interval": 60,
    "job_kill_grace_period": 5,
    "forward_io_information": True,
    "sensing": True,
    "sensing_interval": 2,
    "job_statistics": "out/jobs.csv",
    "pfs_read_links": ["PFS_read"],
}


@pytest.fixture
def read(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "platform.xml").touch()
    (tmp_path / "jobs.json").touch()

    def read(changes=None, without=()):
        table = {key: value for key, value in (GIVEN | (changes or {})).items() if key not in without}
        (tmp_path / "configuration.json").write_text(json.dumps(table))
        return configuration.read(tmp_path / "configuration.json")

    return read


def test_everything_that_it_says(read, tmp_path):
    found = read()
    assert (found.jobs, found.platform) == (tmp_path / "jobs.json", tmp_path / "data" / "platform.xml")
    assert (found.on_submit, found.on_finalize, found.on_point, found.on_reconfiguration) == (True, True, True, False)
    assert (found.interval, found.grace, found.clip, found.io_information, found.sensing) == (60, 5, True, True, 2)
    assert found.outputs == {"job_statistics": "out/jobs.csv"}
    assert found.notes == ()


def test_what_is_left_out_has_elastisims_defaults(read):
    kept = ("jobs_file", "platform_file", "schedule_on_job_submit", "schedule_on_job_finalize")
    found = read(without=[key for key in GIVEN if key not in kept])
    assert (found.on_point, found.on_reconfiguration, found.interval, found.grace, found.url) == (
        False,
        False,
        0,
        0,
        "",
    )
    assert (found.clip, found.io_information, found.sensing, found.outputs) == (True, False, 0, {})


def calls(found):
    return {why.name.removeprefix("INVOKE_").lower() for why in found.calls}


def test_the_scheduler_is_called_for_what_it_asks_for(read):
    ends = {"job_completed", "job_killed"}
    assert calls(read()) == {"periodic", "job_submit", *ends, "scheduling_point", "evolving_request"}
    assert calls(read({"scheduling_interval": 0, "schedule_on_scheduling_point": False})) == {
        "job_submit",
        *ends,
        "evolving_request",
    }
    few = {"schedule_on_job_submit": False, "schedule_on_job_finalize": False, "schedule_on_scheduling_point": False}
    assert calls(read(few)) == {"periodic", "evolving_request"}


def test_changes_of_size_call_it_only_where_points_do_not(read):
    assert "reconfiguration" not in calls(read({"schedule_on_reconfiguration": True}))
    assert "reconfiguration" in calls(
        read({"schedule_on_reconfiguration": True, "schedule_on_scheduling_point": False})
    )


def test_files_may_be_in_the_working_folder(read, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    (tmp_path / "jobs.json").rename(tmp_path / "work" / "jobs.json")
    with pytest.raises(InputError, match=r"configuration.json: its jobs_file 'jobs.json' is not there; looked in "):
        read()
    monkeypatch.chdir(tmp_path / "work")
    assert read().jobs.resolve() == (tmp_path / "work" / "jobs.json").resolve()


def test_unknown_keys_are_noted(read):
    assert read({"scheduling_intervall": 3, "colour": 1}).notes == (
        "configuration.json: keys that mean nothing here: colour, scheduling_intervall",
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"allow_oversubscription": True}, "allow_oversubscription is true, and a node runs one job here"),
        ({"min_scheduling_interval": 1}, "min_scheduling_interval is 1, by which ElastiSim drops calls"),
        (
            {"schedule_on_job_submit": False, "scheduling_interval": 0},
            "schedule_on_job_submit is false and there is no scheduling_interval",
        ),
        (
            {"schedule_on_job_finalize": False, "scheduling_interval": 0},
            "schedule_on_job_finalize is false and there is no scheduling_interval",
        ),
        ({"sensing": "yes"}, "'sensing' is 'yes'; it must be true or false"),
        ({"scheduling_interval": -1}, "'scheduling_interval' is -1"),
        ({"job_kill_grace_period": 1.5}, "'job_kill_grace_period' is 1.5"),
        ({"jobs_file": 3}, "'jobs_file' is 3; it must be text"),
        ({"job_statistics": 3}, "'job_statistics' is 3; it must be text"),
    ],
)
def test_what_cannot_be_done(read, changes, complaint):
    with pytest.raises(InputError, match=complaint):
        read(changes)


def test_files_that_are_no_configuration(read, tmp_path):
    with pytest.raises(InputError, match="'jobs_file' is missing"):
        read(without=("jobs_file",))
    (tmp_path / "configuration.json").write_text("[]")
    with pytest.raises(InputError, match=r"is \[\]; it must be an object"):
        configuration.read(tmp_path / "configuration.json")
