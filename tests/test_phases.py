"""How many phases jobs go through, and a warning where they are too many to wait for without one."""

import warnings

import pytest

import forebay as fb
from cases.elastisim import malleable, read_project, rigid
from forebay._run import phases
from forebay._run.case import case_of
from forebay.errors import LongRunWarning


def found(project):
    case = case_of(project.workload, project.machine.platform, "fcfs", 0, "application", None)
    return phases.n_phases(case.program).tolist()


def busy(rounds, n_tasks=1, **more):
    task = {"type": "busy_wait", "delay": 1, "pattern": "uniform"}
    return {"iterations": rounds, "tasks": [task] * n_tasks, **more}


@pytest.mark.small
def test_loops_count_as_often_as_they_run(tmp_path):
    """By hand: 3 x 2 + 1 x 1 + 5 x 3, for each job."""
    model = {"phases": [busy(3, 2), busy(1), busy(5, 3)]}
    assert found(read_project(tmp_path, rigid(), malleable(), model=model)) == [22, 22]


@pytest.mark.small
def test_what_happens_at_a_change_of_size_does_not_count(tmp_path):
    model = {"on_init": busy(1), "on_reconfiguration": busy(1, 7), "phases": [busy(4)]}
    assert found(read_project(tmp_path, malleable(), model=model)) == [5]


def test_as_many_as_the_log_tells(tmp_path):
    """Of jobs that do more than compute, every phase is logged; one a round waits, one writes."""
    jobs = rigid(rounds=7, seconds=1, amount=1000), malleable(rounds=3, seconds=2, amount=1000)
    project = read_project(tmp_path, *jobs)
    case = case_of(project.workload, project.machine.platform, "fcfs", 0, "application", None)
    log = fb.simulate(project.workload, project.machine.platform, "fcfs", job_model="application").log
    begun = log.filter(log["kind"] == "begin_phase").group_by("job").len().sort("job")
    assert phases.n_phases(case.program).tolist() == begun["len"].to_list()


@pytest.mark.small
def test_jobs_without_loops_have_the_phases_that_they_have():
    case = case_of("default", None, "fcfs", 0, None, None)
    assert phases.n_phases(case.program).sum() == len(case.program.kind)


def test_many_are_warned_of_before_the_run_begins(tmp_path, monkeypatch):
    project = read_project(tmp_path, rigid(rounds=10), rigid(rounds=20))
    monkeypatch.setattr(phases, "PER_SECOND", 0.5)  # then 60 of them take two minutes
    begun = []

    def progress(ended, jobs):
        begun.append(len(warned))

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        fb.simulate(project.workload, project.machine.platform, "fcfs", 0, "application", progress)
    (one,) = warned
    assert one.category is LongRunWarning
    assert set(begun) == {1}
    text = str(one.message)
    assert "jobs go through 60 phases, job 1 alone through 40" in text
    assert "2 min or longer" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fb.simulate(project.workload, project.machine.platform, "fcfs", 0, "application", progress=False)


def test_ordinary_runs_say_nothing(tmp_path):
    project = read_project(tmp_path, rigid(rounds=1000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fb.simulate("default", policy="fcfs")
        fb.simulate(project.workload, project.machine.platform, "fcfs", 0, "application")


def test_a_count_of_billions_is_exact(tmp_path):
    model = {"phases": [busy(2**31 - 1)] * 3}
    assert found(read_project(tmp_path, rigid(), model=model)) == [3 * (2**31 - 1)]
