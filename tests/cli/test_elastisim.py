"""`forebay elastisim`: whole projects from the command line."""

import json

import pytest

from cases.elastisim import IN_ORDER, malleable, rigid, write

TWO = rigid(amount=20_000_000_000), malleable(submit=5, rounds=2)


@pytest.fixture
def project(tmp_path):
    """A project beside an empty folder for its results."""
    return lambda *jobs, **more: write(tmp_path / "project", *(jobs or TWO), **more)


def test_a_project_runs_as_it_is(forebay, project, tmp_path):
    code, out, err = forebay("elastisim", project(), "-o", tmp_path / "out", "-q")
    assert (code, err) == (0, "")
    assert "policy    " in out
    assert "algorithm.py (job model application, seed 0)" in out
    assert (tmp_path / "out" / "job_statistics.csv").read_text().splitlines()[1:] == [
        "0,rigid,0,0,20.0006,0,20.0006,20.0006,completed",
        "1,malleable,5,5,25,0,20,20,completed",
    ]
    assert (tmp_path / "out" / "jobs.csv").read_text().startswith("job_id,workload_name,")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["summary"]["n_jobs"] == 2


def test_tables_are_those_asked_for(forebay, project, tmp_path):
    told = project(sensing=True, sensing_interval=4)
    code, out, _ = forebay("elastisim", told, "--elastisim-output", "pfs_utilization", "-o", tmp_path / "out")
    assert code == 0
    assert "pfs_utilization.csv" in out
    assert not (tmp_path / "out" / "job_statistics.csv").exists()
    assert (tmp_path / "out" / "pfs_utilization.csv").read_text().splitlines()[5] == "16,0,2e+09,0,1"


def test_tables_that_are_not_written_are_noted_or_refused(forebay, project, tmp_path):
    told = project(task_times="task_times.csv")
    code, out, _ = forebay("elastisim", told, "-o", tmp_path / "out")
    assert code == 0
    assert "not written: task_times (tables that are: job_statistics, node_utilization, pfs_utilization)" in out
    assert "not written" not in forebay("elastisim", told).out  # nothing is
    code, _, err = forebay("elastisim", told, "--elastisim-output", "task_times", "-o", tmp_path / "out")
    assert (code, "not written: task_times" in err) == (2, True)
    code, _, err = forebay("elastisim", told, "--elastisim-output", "job_statistics")
    assert (code, "add -o DIR" in err) == (2, True)


def test_a_policy_takes_the_place_of_the_algorithm(forebay, project, tmp_path):
    told = project(algorithm=None)
    code, out, _ = forebay("elastisim", told, "--policy", "fcfs-malleable:when=idle", "-o", tmp_path / "out")
    assert code == 0
    assert "fcfs-malleable:when=idle (job model application, seed 0)" in out
    assert (tmp_path / "out" / "job_statistics.csv").exists()


def test_an_algorithm_elsewhere(forebay, project, tmp_path):
    told = project(algorithm=None)
    (tmp_path / "mine.py").write_text(IN_ORDER + "    print('done')\n")
    code, out, _ = forebay("elastisim", told, "--algorithm", tmp_path / "mine.py")
    assert code == 0
    assert out.startswith("done\n")


def test_json_is_alone_on_stdout(forebay, project, tmp_path):
    told = project(algorithm=IN_ORDER + "    print('done')\n")
    code, out, err = forebay("elastisim", told, "--format", "json", "-o", tmp_path / "out")
    assert code == 0
    assert json.loads(out)["files"][-1] == str(tmp_path / "out" / "job_statistics.csv")
    assert "done" in err


def test_jobs_get_their_grace(forebay, project, tmp_path):
    told = project(rigid(seconds=100, walltime=30), job_kill_grace_period=7)
    for more in ((), ("--policy", "fcfs-easy")):
        code, out, _ = forebay("elastisim", told, *more, "-o", tmp_path / "out")
        assert (code, "application:grace=7" in out) == (0, True)
        lines = (tmp_path / "out" / "job_statistics.csv").read_text().splitlines()
        assert lines[1] == "0,rigid,0,0,37,0,37,37,killed"


@pytest.mark.parametrize(
    ("more", "algorithm", "complaint"),
    [
        (("--policy", "fcfs", "--algorithm", "a.py"), IN_ORDER, "--algorithm and --policy were both given"),
        ((), None, "algorithm.py: no such file; name the algorithm with --algorithm FILE, or a policy with --policy"),
        ((), "x = 1\n", "algorithm.py: never calls pass_algorithm(schedule, url)"),
        ((), IN_ORDER.replace("free = [", "1 / 0; free = ["), "algorithm.py:6: the algorithm raised ZeroDivisionError"),
        (("--policy", "no-such"), IN_ORDER, "no-such"),
    ],
)
def test_what_cannot_be_run(forebay, project, tmp_path, more, algorithm, complaint):
    code, out, err = forebay("elastisim", project(algorithm=algorithm), *more, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert complaint in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_algorithm_that_breaks_a_rule(forebay, project):
    algorithm = IN_ORDER.replace("if needs > len(free):", "if False:").replace("free[:needs]", "nodes[:needs]", 1)
    code, _, err = forebay("elastisim", project(rigid(), rigid(), algorithm=algorithm))
    assert (code, "to <Job 1: rigid, pending>, and it is not free" in err) == (3, True)


def test_names_of_tables_are_completed():
    from forebay.cli._input.completion import elastisim_outputs

    assert elastisim_outputs("job_statistics,p") == ["job_statistics,pfs_utilization"]


@pytest.mark.filterwarnings("default::forebay.errors.LongRunWarning")
def test_a_run_of_many_phases_is_warned_of_in_one_line(forebay, project, monkeypatch):
    monkeypatch.setattr("forebay._run.phases.PER_SECOND", 1.0)
    told = project(rigid(rounds=100))
    code, _, err = forebay("elastisim", told)
    assert code == 0
    (line,) = [line for line in err.splitlines() if "phases" in line]
    assert line.startswith("forebay: jobs: jobs go through 200 phases, job 0 alone through 200; at 1 a second")
    assert "phases" not in forebay("elastisim", told, "-q").err
