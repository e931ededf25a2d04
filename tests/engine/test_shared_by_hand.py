"""Jobs that share nodes, solved by hand. Core k of node n has the id n x cores + k where nodes are alike."""

import pytest

import forebay as fb
from cases.shared import GB, cores, jobs, machine, starts
from forebay.errors import OversubscribedError

pytestmark = pytest.mark.small


def run(platform, workload, policy="fcfs"):
    return fb.simulate(workload, platform, policy)


def test_two_jobs_share_a_node():
    """Two jobs of 2 cores have one node of 4 between them; the third waits for both."""
    result = run(machine({"nodes": 1, "cores": 4}), jobs({"cores": 2}, {"cores": 2, "walltime": 5.0}, {"cores": 3}))
    assert starts(result) == {1: 0, 2: 0, 3: 10}
    assert cores(result) == {1: "0-1", 2: "2-3", 3: "0-2"}
    assert result.resources == {"cores": 4}


def test_a_gpu_job_is_held_up_by_cores():
    """Two GPUs are idle all the time, but the node's cores are not until 10."""
    platform = machine({"nodes": 1, "cores": 4, "gpus": 2, "gpu": "v100"})
    result = run(platform, jobs({"cores": 4}, {"cores": 1, "gpus": 1}))
    assert starts(result) == {1: 0, 2: 10}
    taken = result.log.filter(result.log["resource"] == "gpus_v100").select("time", "job", "kind", "amount").rows()
    assert taken == [(10, 2, "acquire", 1), (20, 2, "release", 1)]


def test_exclusive_beside_shared():
    """Job 2 wants a node alone: node 1, of which it takes all. Job 3 joins job 1 on node 0; job 4 waits for node 1."""
    platform = machine({"nodes": 2, "cores": 4, "memory": 8 * GB})
    alone = {"cores": 1, "exclusive": 1}
    result = run(platform, jobs({"cores": 1, "walltime": 30.0}, alone, {"cores": 1, "walltime": 30.0}, alone))
    assert starts(result) == {1: 0, 2: 0, 3: 0, 4: 10}
    assert cores(result) == {1: "0", 2: "4-7", 3: "1", 4: "4-7"}
    memory = result.log.filter(result.log["resource"] == "memory")
    changes = memory.select("time", "job", "amount").rows()
    assert changes == [(time, job, 8 * GB) for time, job in ((0, 2), (10, 2), (10, 4), (20, 4))]


def test_who_says_no_cores_is_alone():
    """As traces in nodes have it: a job of one node has that node."""
    result = run(machine({"nodes": 1, "cores": 4}), jobs({"nodes": 1}, {"cores": 1}))
    assert starts(result) == {1: 0, 2: 10}
    assert cores(result)[1] == "0-3"


def test_tasks_lie_together_and_nodes_apart():
    """Node 0 has 2 of 4 cores free. 6 tasks fill both nodes; 6 cores on 2 different nodes need 3 on each."""
    platform, first = machine({"nodes": 2, "cores": 4}), {"cores": 2}
    packed = run(platform, jobs(first, {"nodes": 0, "tasks": 6, "cores": 6}))
    spread = run(platform, jobs(first, {"nodes": 2, "cores": 6}))
    assert (starts(packed), cores(packed)[2]) == ({1: 0, 2: 0}, "2-7")
    assert (starts(spread), cores(spread)[2]) == ({1: 0, 2: 10}, "0-2 4-6")
    told = packed.jobs.select("requested_number_of_resources", "nodes").rows()
    assert told == spread.jobs.select("requested_number_of_resources", "nodes").rows() == [(2, 1), (6, 2)]


def test_who_says_neither_nodes_nor_tasks_has_as_few_nodes_as_can_be():
    """6 cores on nodes of 4: two nodes with 3 cores each."""
    result = run(machine({"nodes": 3, "cores": 4}), jobs({"nodes": 0, "cores": 6}))
    assert cores(result) == {1: "0-2 4-6"}


def test_memory_binds():
    """Three cores are idle beside job 1, but 2 GB of memory: job 2 wants 4."""
    platform = machine({"nodes": 1, "cores": 4, "memory": 8 * GB})
    result = run(platform, jobs({"cores": 1, "memory": 6 * GB}, {"cores": 1, "memory": 4 * GB}))
    assert starts(result) == {1: 0, 2: 10}


def test_best_fit_against_lowest_and_worst_fit():
    """Jobs 1 and 2 leave 2 cores of node 0 and 1 of node 1, node 2 is idle: where does one core go?"""
    rows = ({"cores": 2}, {"cores": 3}, {"cores": 1})
    where = {
        placement: cores(run(machine({"nodes": 3, "cores": 4}, placement=placement), jobs(*rows)))[3]
        for placement in ("best-fit", "lowest")
    }
    assert where == {"best-fit": "7", "lowest": "2"}
    # Worst fit spreads all three.
    worst = cores(run(machine({"nodes": 3, "cores": 4}, placement="worst-fit"), jobs(*rows)))
    assert worst == {1: "0-1", 2: "4-6", 3: "8"}


def test_special_nodes_come_last():
    """A job that any node could run has one of the first class, however full its nodes are."""
    platform = machine({"nodes": 1, "cores": 4}, {"nodes": 1, "cores": 2, "gpus": 1, "gpu": "a"})
    result = run(platform, jobs({"cores": 1}, {"cores": 1, "gpus": 1}, {"cores": 3}, {"cores": 1}))
    assert cores(result) == {1: "0", 2: "4", 3: "1-3", 4: "5"}


def test_gpus_by_type():
    """Of any type: the first that is free. Of type b: the second node, though the first is idle from 10 on."""
    platform = machine(*({"nodes": 1, "cores": 4, "gpus": 1, "gpu": gpu} for gpu in "ab"))
    rows = ({"cores": 1, "gpus": 1}, {"cores": 1, "gpus": 1, "walltime": 20.0}, {"cores": 1, "gpus": 1, "gpu": 0})
    result = run(platform, jobs(*rows, names={"gpu": {0: "b"}}))
    assert starts(result) == {1: 0, 2: 0, 3: 20}
    assert cores(result) == {1: "0", 2: "4", 3: "4"}


EASY = {"nodes": 2, "cores": 4}
RUNNING = ({"cores": 3}, {"cores": 4, "walltime": 20.0})  # cores 0-2 until 10, all of node 1 until 20
HEAD = {"cores": 4, "walltime": 50.0}  # can have node 0 at 10


def test_easy_keeps_particular_nodes_for_the_head():
    """Core 3 is idle until the head gets it at 10: job 4 would hold it for longer, job 5 ends by then."""
    rows = (*RUNNING, HEAD, {"cores": 1, "walltime": 11.0}, {"cores": 1, "walltime": 10.0})
    result = run(machine(EASY), jobs(*rows), "fcfs-easy")
    assert starts(result) == {1: 0, 2: 0, 3: 10, 4: 20, 5: 0}
    assert cores(result)[5] == "3"


def test_easy_lets_a_long_job_use_other_nodes():
    """Best fit would put job 4 on node 0, where a core is free; it goes to node 1, which the head does not need."""
    rows = ({"cores": 3}, {"cores": 2, "walltime": 20.0}, HEAD, {"cores": 1, "walltime": 99.0})
    result = run(machine(EASY), jobs(*rows), "fcfs-easy")
    assert starts(result) == {1: 0, 2: 0, 3: 10, 4: 0}
    assert cores(result) == {1: "0-2", 2: "4-5", 3: "0-3", 4: "6"}


def test_easy_beside_a_head_that_wants_a_node_alone():
    """The head takes all of node 0 at 10, though it needs one core: nothing of it is spare."""
    head = {"cores": 1, "exclusive": 1, "walltime": 50.0}
    rows = (*RUNNING, head, {"cores": 1, "walltime": 11.0})
    assert starts(run(machine(EASY), jobs(*rows), "fcfs-easy")) == {1: 0, 2: 0, 3: 10, 4: 20}


def test_easy_counts_spare_memory():
    """Cores are spare beside the head at 10, but 1 GB of memory: a long job of 2 GB waits, one of 1 GB does not."""
    platform = machine({"nodes": 1, "cores": 8, "memory": 8 * GB})
    head = {"cores": 2, "memory": 7 * GB, "walltime": 50.0}
    rows = ({"cores": 2, "memory": 4 * GB}, head, {"cores": 1, "memory": 2 * GB, "walltime": 99.0})
    assert starts(run(platform, jobs(*rows), "fcfs-easy")) == {1: 0, 2: 10, 3: 60}
    rows = (*rows[:2], {"cores": 1, "memory": 1 * GB, "walltime": 99.0})
    assert starts(run(platform, jobs(*rows), "fcfs-easy")) == {1: 0, 2: 10, 3: 0}


def test_who_fits_nowhere_is_rejected():
    """5 cores of a node, 3 nodes of 2, a GPU: a sentence for each."""
    rows = ({"cores": 5}, {"nodes": 3, "cores": 3}, {"cores": 1, "gpus": 1}, {"cores": 1})
    result = run(machine({"nodes": 2, "cores": 4}), jobs(*rows))
    assert starts(result) == {1: None, 2: None, 3: None, 4: 0}
    assert [note for note in result.facts["notes"] if "rejected" in note] == [
        "job 1 is rejected: it asks for 5 cores a node, and shared has 4 cores in a node at most",
        "job 3 is rejected: it asks for 1 GPU a node, and shared has none in a node at most",
        "job 2 is rejected: it asks for 3 nodes, and shared has 2 for it",
    ]


class Picks(fb.Policy):
    """Starts every job on a node of its choice."""

    def __init__(self, node):
        self.node = node

    def decide(self, view, act):
        assert view.shared
        for job in view.queue:
            if act.fits(job):
                act.start(job, nodes=[self.node])


def test_python_policies_pick_nodes():
    result = run(machine({"nodes": 3, "cores": 4}), jobs({"cores": 2}, {"cores": 2}), Picks(2))
    assert cores(result) == {1: "8-9", 2: "10-11"}
    with pytest.raises(OversubscribedError, match="started job 3, which needs 1 node with 1 core"):
        run(machine({"nodes": 3, "cores": 4}), jobs({"cores": 2}, {"cores": 2}, {"cores": 1}), Picks(2))


class Looks(fb.Policy):
    """Starts jobs in order while they fit, and keeps what it sees."""

    def __init__(self):
        self.seen = []

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)
        running = [view.nodes_of(row["job"]) for row in view.running]
        self.seen.append((view.now, repr(view), view.idle_nodes.tolist(), view.inside.tolist(), running))


def test_python_policies_see_what_is_inside():
    policy = Looks()
    result = run(machine({"nodes": 2, "cores": 4}), jobs({"cores": 3}, {"nodes": 2, "cores": 2}, {"cores": 4}), policy)
    assert starts(result) == {1: 0, 2: 0, 3: 10}
    memory = 1 << 60  # nodes that do not tell their memory have no end of it
    assert policy.seen[0][2:] == ([0, 1], [[4, memory, 0]] * 2, [])
    assert policy.seen[0][1] == "<View at 0 s: 3 waiting, 0 running, 8 of 8 cores idle>"
    assert policy.seen[1][2:] == ([0, 1], [[4, memory, 0]] * 2, [])
