"""Jobs of ElastiSim as a workload: order, sizes, walltimes; and what is said of bad input."""

import json

import pytest

from forebay.elastisim import jobs
from forebay.errors import InputError

pytestmark = pytest.mark.small

TASK = {"type": "cpu", "flops": "work", "computation_pattern": "all_ranks"}
IO = {"type": "pfs_write", "bytes": 1, "pattern": "all_ranks"}
MODEL = {"phases": [{"iterations": "rounds", "tasks": [TASK]}]}
RIGID = {"type": "rigid", "num_nodes": 4}
FLEXIBLE = {"type": "malleable", "num_nodes_min": 2, "num_nodes_max": 5}
GIVEN = {"application_model": "model.json", "submit_time": 0, "arguments": {"work": 60, "rounds": 3}}


@pytest.fixture
def project(tmp_path):
    def project(*listed, model=MODEL, **more):
        (tmp_path / "model.json").write_text(json.dumps(model))
        (tmp_path / "jobs.json").write_text(json.dumps({"jobs": [GIVEN | job for job in listed]}))
        return jobs.read(tmp_path / "jobs.json", **more)

    return project


def test_jobs_are_numbered_in_the_order_of_their_submission(project):
    made = project(
        *(RIGID | {"submit_time": time, "num_nodes": nodes} for time, nodes in ((9, 16), (5, 8), (5, 9), (2.5, 4)))
    )
    assert made.jobs.select("id", "submit", "nodes").rows() == [(0, 2.5, 4), (1, 5, 8), (2, 5, 9), (3, 9, 16)]
    assert made.notes == ("jobs are numbered in the order of their submission, which is not that of the file",)
    assert (made.name, made.records, made.epoch) == ("jobs", 4, 0.0)


def test_sizes_and_the_preferred_one(project, machine):
    made = project(RIGID, FLEXIBLE)
    assert made.applications.sizes.select("job", "nodes").rows() == [(0, 4), (1, 2), (1, 3), (1, 4), (1, 5)]
    assert made.jobs["nodes"].to_list() == [4, 5]
    wide = FLEXIBLE | {"num_nodes_max": 100}
    assert project(wide).jobs["nodes"].to_list() == [100]
    assert project(wide, machine=machine()).jobs["nodes"].to_list() == [16]  # all that there are
    assert project(wide | {"num_nodes_min": 50}, machine=machine()).jobs["nodes"].to_list() == [50]


def test_work_of_all_rounds_at_the_preferred_size(project):
    assert project(RIGID, FLEXIBLE).jobs.select("run_time", "flop").rows() == [(0, 45), (0, 36)]


def test_walltimes_are_whole_numbers(project):
    made = project(*(RIGID | {"walltime": value} for value in (0, 10, 10.5, -3)), RIGID)
    assert made.jobs["walltime"].to_list() == [float("inf"), 10.0, float("inf"), float("inf"), float("inf")]
    assert made.applications.sizes["walltime"].to_list() == made.jobs["walltime"].to_list()
    assert made.notes == ("2 jobs have a walltime that is no whole number, which ElastiSim takes as none",)


def test_models_are_found_in_several_folders(project, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "other.json").write_text(json.dumps(MODEL))
    job = RIGID | {"application_model": "data/other.json"}
    assert len(project(job)) == 1
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").rename(tmp_path / "elsewhere" / "data")
    assert len(project(job, folders=[tmp_path / "elsewhere"])) == 1
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(project(job)) == 1


def phase(task=TASK, **more):
    return {"phases": [{"tasks": [TASK | task]} | more]}


def io(**more):
    return {"phases": [{"tasks": [IO | more]}]}


@pytest.mark.parametrize(
    ("job", "model", "complaint"),
    [
        (RIGID, phase({"flops": "wrok"}), r"task 1: 'flops' 'wrok' has the unknown name 'wrok'; did you mean 'work'\?"),
        (FLEXIBLE, phase({"flops": "1/(num_nodes-3)"}), r"below 0, for 2 nodes"),
        (FLEXIBLE, phase({"flops": "1/abs(num_nodes-3)"}), r"no number for 3 nodes \(.*jobs.json: jobs\[0\]\)"),
        (RIGID, phase({"flops": "0-1"}), "gives -1, which is below 0, for 4 node"),
        (RIGID, phase({"flops": -1}), "'flops' is -1; it must be 0 or more"),
        (RIGID, phase({"flops": "__import__(1)"}), "unknown function '__import__'"),
        (RIGID, phase({"flops": "num_nodes_min"}), "unknown name 'num_nodes_min'"),
        (RIGID, phase({"flops": "num_nodes.real"}), "which means nothing here"),
        (RIGID, phase({"flops": [1]}), r"'flops' is \[1\]; it must be a number"),
        (RIGID, phase({"flops": True}), "'flops' is True; it must be a number"),
        (RIGID, phase({"computation_pattern": "all_rnks"}), "did you mean 'all_ranks'"),
        (RIGID, phase({"computation_pattern": "vector"}), "the pattern vector needs a list of numbers"),
        (RIGID, phase({"computation_pattern": "vector", "flops": [1, 2]}), "has 2 numbers, and the job needs 4"),
        (FLEXIBLE, phase({"computation_pattern": "vector", "flops": [1]}), "for rigid jobs, and this one is malleable"),
        (RIGID, phase({"type": "cup"}), "unknown type 'cup'; did you mean 'cpu'"),
        (RIGID, phase({"flops": None}), "has neither flops nor bytes"),
        (RIGID, phase({"type": "gpu"}), "needs GPUs, and no machine that has them is given"),
        (RIGID, phase({"iterations": -1}), "'iterations' is -1"),
        (RIGID, phase({"iterations": 2.5}), "'iterations' is 2.5; it must be a whole number or a formula"),
        (RIGID, phase({"iterations": 10001}), "more than 10,000 tasks; make them iterations of a phase"),
        (RIGID, phase({"iterations": "1e300"}), "more than 10,000 tasks"),
        (RIGID, phase(iterations=-1), "'iterations' is -1"),
        (RIGID, phase(iterations="0-1"), "iterations '0-1' give -1; give 0 to 2,147,483,647"),
        (RIGID, phase(iterations=2**31), "iterations 2147483648 give"),
        (RIGID, phase(iterations="1/0"), "give inf"),
        (RIGID, phase(iterations="num_nodes"), "phase 1: iterations 'num_nodes' has the unknown name 'num_nodes'"),
        (RIGID, phase(iterations=0), "all phases of model.json have 0 iterations"),
        (RIGID, phase(barrier="yes"), "'barrier' is 'yes'; it must be true or false"),
        (RIGID, phase(evolving_request=3), "'evolving_request' is 3; it must be text"),
        (RIGID, phase(tasks=[]), r"phase 1: 'tasks' is \[\]; it must be a list of tasks"),
        (RIGID, {"phases": []}, r"'phases' is \[\]"),
        (RIGID, {}, "'phases' is missing"),
        (RIGID, [], r"the model is \[\]; it must be an object"),
        (RIGID, io(pattern="vector", bytes=[1, 2, 1, 1]), "'bytes' differ from node to node"),
        (RIGID, {"phases": [{"tasks": [TASK | {"flops": [1, 2, 1, 1], "computation_pattern": "vector"}, IO]}]},
         "has unequal amounts, and some nodes begin phase 1, task 2 before it has ended; make the next"),
        (RIGID, {"phases": [{"tasks": [{"type": "sequence", "tasks": [IO | {"async": True}, TASK]}]}]},
         "runs asynchronously in a sequence, which is not read"),
        (FLEXIBLE, MODEL | {"on_reconfiguration": {"tasks": [IO | {"async": True}, TASK]}},
         "on_reconfiguration, task 1: runs asynchronously here"),
        (RIGID, MODEL | {"on_init": {"tasks": [IO | {"async": True}, TASK], "iterations": 2}}, "asynchronously here"),
        (RIGID, phase(barrier=False) | {"on_init": {"tasks": [IO | {"async": True}, TASK]}}, "asynchronously here"),
        (FLEXIBLE | {"type": "evolving"}, phase(evolving_request="work"), "unknown name 'work'"),
        (FLEXIBLE | {"type": "evolving"}, phase(evolving_request="1/(num_nodes-3)"), r"no number for 3 nodes"),
        (FLEXIBLE | {"type": "evolving"}, phase(evolving_request="1/(phase_iteration-2)", iterations=9),
         r"gives no number for 2 nodes after 2 rounds"),
        (FLEXIBLE | {"type": "evolving"}, phase(evolving_request="phase_iteration", iterations=10**6),
         "1,000,000 rounds at 4 sizes are more than 1,000,000"),
        (RIGID | {"num_nodes": 0}, MODEL, r"jobs\[0\]: 'num_nodes' is 0; it must be from 1 to"),
        ({"type": "rigid"}, MODEL, "'num_nodes' is missing"),
        (FLEXIBLE | {"num_nodes_min": 9}, MODEL, "num_nodes_min is 9, more than num_nodes_max, 5"),
        (FLEXIBLE | {"num_nodes_max": 10**9}, MODEL, "more than 10,000,000 amounts"),
        (FLEXIBLE | {"num_gpus_per_node_min": 1, "num_gpus_per_node_max": 2}, MODEL, "its GPUs a node may be 1 to 2"),
        (RIGID | {"type": "rigged"}, MODEL, "unknown type 'rigged'; did you mean 'rigid'"),
        (RIGID | {"submit_time": -1}, MODEL, "'submit_time' is -1"),
        (RIGID | {"submit_time": "now"}, MODEL, "'submit_time' is 'now'; it must be a number"),
        (RIGID | {"application_model": "gone.json"}, MODEL,
         r"jobs.json: jobs\[0\]: its application model 'gone.json' is not there; looked in "),
        (RIGID | {"arguments": [1]}, MODEL, "'arguments' is"),
        (RIGID | {"arguments": {"a b": 1}}, MODEL, "the argument 'a b' is no name"),
        (RIGID | {"arguments": {"work": True}}, MODEL, "'work' is True; it must be a number"),
        (RIGID | {"arguments": {"work": "x" * 3000, "rounds": 1}}, MODEL, "grows beyond 2,000 characters"),
        (RIGID | {"arguments": {"wor": 1, "rounds": 1}}, MODEL, "'flops' '1k' has 'k'"),
    ],
)  # fmt: skip
def test_bad_input(project, job, model, complaint):
    with pytest.raises(InputError, match=complaint):
        project(job, model=model)


def test_requests_beyond_a_jobs_sizes_where_they_are_not_clipped(project):
    model = phase(evolving_request="num_nodes + 1", iterations=2)
    with pytest.raises(InputError, match=r"asks for less than 2 or more than 5 nodes for 5 nodes; set clip_evolving"):
        project(FLEXIBLE | {"type": "evolving"}, model=model, clip=False)
    inside = phase(evolving_request="num_nodes_min", iterations=2)
    assert set(project(FLEXIBLE | {"type": "evolving"}, model=inside, clip=False).applications.requests["wants"]) == {2}


def test_sequences_without_end(project):
    nested = TASK
    for _ in range(30):
        nested = {"type": "sequence", "tasks": [nested]}
    with pytest.raises(InputError, match="sequences nest deeper than 20"):
        project(RIGID, model={"phases": [{"tasks": [nested]}]})
    idle = TASK | {"iterations": 0}
    for _ in range(10):
        idle = {"type": "sequence", "tasks": [idle], "iterations": 9999}
    with pytest.raises(InputError, match="more than 10,000 tasks"):
        project(RIGID, model={"phases": [{"tasks": [idle]}]})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("[]", "has no list 'jobs'"), ('{"jobs": []}', "has no list 'jobs'"), ('{"jobs": [3]}', r"jobs\[0\]: is 3"),
     ('{"jobs"', "not JSON"), ("[" * 100_000, "nest too deep")],
)  # fmt: skip
def test_files_that_are_no_jobs(tmp_path, text, complaint):
    (tmp_path / "jobs.json").write_text(text)
    with pytest.raises(InputError, match=complaint):
        jobs.read(tmp_path / "jobs.json")


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        jobs.read(tmp_path / "jobs.json")
