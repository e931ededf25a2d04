"""Jobs with file systems of their own, solved by hand.

One client finds no queue, so a block of 1 MB takes what client and server spend on it, whatever their number: with the
fitted delays, device and link of forebay.adhoc.throughput 1.71955 ms to write (8.5 us + 1 MB / 2.02 GB/s at the
client, 216 us + 1 MB / 1 GB/s at the server) and 0.58645 ms to read. Redistribution keeps a server busy for 1.216 ms a
block.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload import job_table

pytestmark = pytest.mark.small

GB = 1e9
WRITE = (8.5e-6 + 1e6 / 2.02e9 + 2.16e-4 + 1e6 / 1e9) * 1000  # seconds a GB
READ = (8.5e-6 + 1e6 / 2.02e9 + 2.9e-6 + 1e6 / 12.5e9) * 1000
MOVE = (2.16e-4 + 1e-3) * 1000
ALL = (("read", 0, 2), ("compute", 50, 0), ("checkpoint", 0, 10), ("compute", 50, 0), ("fetch", 0, 10), ("write", 0, 3))
"""What a job does: kind, seconds, GB."""


def workload(*jobs):
    """Jobs given by submission, nodes and what they do."""
    n = len(jobs)
    table = job_table(
        {
            "id": list(range(1, n + 1)),
            "submit": [float(job[0]) for job in jobs],
            "walltime": [1e5] * n,
            "run_time": [float(sum(seconds for _, seconds, _ in job[2])) for job in jobs],
            "nodes": [job[1] for job in jobs],
        }
    )
    rows = [
        (k, 0, kind, float(seconds), 0.0, 0.0, size * GB, None)
        for k, job in enumerate(jobs, 1)
        for kind, seconds, size in job[2]
    ]
    return fb.Workload("by hand", table, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


def run(jobs, size, policy="fcfs", **parameters):
    """On so many nodes, with a file system of 1 GB/s each way."""
    given = ",".join(f"{name}={value}" for name, value in ({"block": 1_000_000} | parameters).items())
    return fb.simulate(workload(*jobs), f"flat:nodes={size},pfs=1GB/s", policy, job_model=f"adhoc:{given}")


def ends(result):
    return result.jobs["finish_time"].to_list()


def changes(result):
    """When nodes came and went, and how many."""
    rows = result.log.filter(pl.col("reason") == "resized").select("time", "kind", "amount").rows()
    return [(time, amount if kind == "acquire" else -amount) for time, kind, amount in rows]


def test_through_a_proxy():
    """One client, one server, no queue. A block of 1 MB through a proxy with a hop of 0.1 ms that batches 4 requests:

    to write, the hop, a quarter of the latency, the transfer, and the server's time; to read, all but the hop only for
    the half that the cache does not have. Written back, a block takes what the proxy takes to hand it on; with a hop of
    4 ms the client is slower than that.
    """
    sent = 8.5e-6 / 4 + 1e6 / 2.02e9
    write, read = sent + 2.16e-4 + 1e-3, sent + 2.9e-6 + 1e6 / 12.5e9
    does = (("checkpoint", 0, 10), ("fetch", 0, 10))
    for given, seconds in (
        ({"hop": "0.0001", "batch": 4}, (1e-4 + write) + (1e-4 + read)),
        ({"hop": "0.0001", "batch": 4, "hits": 0.5}, (1e-4 + write) + (1e-4 + read / 2)),
        ({"hop": "0.0001", "batch": 4, "hits": 1}, (1e-4 + write) + 1e-4),
        ({"hop": "0.0001", "batch": 4, "write_back": "true"}, write + (1e-4 + read)),
        ({"hop": "0.004", "batch": 4, "write_back": "true"}, 4e-3 + (4e-3 + read)),
        ({"batch": 4}, write + read),
    ):
        assert ends(run([(0, 1, does)], 4, start=1, **given)) == pytest.approx([10_000 * seconds]), given


def test_a_proxy_that_does_nothing_changes_nothing():
    jobs = [(0, 2, ALL), (5, 1, ALL)]
    plain = run(jobs, 6, servers="malleable")
    assert run(jobs, 6, servers="malleable", hop=0, batch=1, hits=0).facts["log_sha256"] == plain.facts["log_sha256"]
    assert run(jobs, 6, servers="malleable", batch=2).facts["log_sha256"] != plain.facts["log_sha256"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"hop": -1}, "hop is -1; give a number from 0 up"),
        ({"hits": 1.5}, "hits is 1.5; give a share from 0 to 1"),
        ({"batch": 0}, "batch is 0; give a whole number from 1 up"),
    ],
)
def test_proxies_that_make_no_sense(given, says):
    with pytest.raises(InputError, match=says):
        run([(0, 1, ALL)], 4, **given)


def test_without_servers_all_of_it_crosses_the_file_system():
    result = run([(0, 1, ALL)], 4, servers="none")
    assert ends(result) == pytest.approx([2 + 50 + 10 + 50 + 10 + 3])
    assert result.links["bytes"].to_list() == [12 * GB, 13 * GB]


def test_on_its_own_nodes_a_job_stages_its_input_and_output_alone():
    result = run([(0, 1, ALL)], 4, nodes="own", slowdown=0.1)
    assert ends(result) == pytest.approx([2 + 12 * READ + 110 + 13 * WRITE + 3])
    assert result.links["bytes"].to_list() == [2 * GB, 3 * GB]
    assert result.jobs.select("compute_nodes", "mean_servers").row(0) == (1, 0.0)


def test_borrowed_nodes_are_held_from_start_to_end():
    """The second job finds no node for its server until the first has ended."""
    result = run([(0, 2, ALL), (1, 1, (("write", 0, 1),))], 4, start=0.5)
    alone = run([(0, 2, ALL)], 4, start=0.5)
    assert ends(result)[0] == ends(alone)[0]
    assert result.jobs["starting_time"].to_list() == [0.0, ends(alone)[0]]
    assert ends(result)[1] == pytest.approx(ends(alone)[0] + WRITE + 1)
    assert result.jobs["mean_servers"].to_list() == pytest.approx([1.0, 1.0])
    assert fb.summary(result)["server_node_hours"] == pytest.approx(sum(result.jobs["execution_time"]) / 3600)
    assert fb.summary(result)["pfs_bytes_avoided"] == 20 * GB


GROWING = {
    "servers": "malleable",
    "start": 1,
    "most": 2,
    "recommended": 1.2e9,
    "window": 2,
    "operations": 4,
    "redistribute": "modulo",
}
"""Writes are below what is recommended; so 2 servers are asked for after 2 operations, and then there are no more."""


def test_an_expansion_in_the_middle_moves_what_is_held_by_then():
    """2 GB were staged in and 5 of 10 GB written when the second server comes: by remainders half of them moves."""
    result = run([(0, 1, (("read", 0, 2), ("write", 0, 10)))], 3, **GROWING)
    begins = 2 + 2 * READ + 5 * WRITE
    # The input is read by 4 operations, above what is recommended; there is no server to give up.
    assert changes(result) == [(pytest.approx(begins), 1)]
    assert ends(result) == pytest.approx([begins + 3.5 * MOVE + 5 * WRITE + 10])
    assert fb.summary(result)["redistributed_bytes"] == 3.5 * GB


def test_in_hercules_an_expansion_moves_nothing():
    result = run([(0, 1, (("write", 0, 10),))], 3, **GROWING | {"redistribute": "partial"})
    assert changes(result) == [(pytest.approx(5 * WRITE), 1)]
    assert ends(result) == pytest.approx([10 * WRITE + 10])
    assert fb.summary(result)["redistributed_bytes"] == 0


def test_a_refused_request_is_made_again_before_the_next_operation():
    """Another job has the third node until after the third of four operations has begun."""
    until = 6 * WRITE
    result = run([(0, 1, (("write", 0, 10),)), (0, 1, (("compute", until, 0),))], 3, **GROWING)
    assert changes(result) == [(pytest.approx(7.5 * WRITE), 1)]
    assert ends(result)[0] == pytest.approx(10 * WRITE + 7.5 / 2 * MOVE + 10)


def test_a_request_that_is_always_refused_changes_nothing():
    result = run([(0, 1, (("write", 0, 10),)), (0, 1, (("compute", 1000, 0),))], 3, **GROWING)
    assert changes(result) == []
    assert ends(result)[0] == pytest.approx(10 * WRITE + 10)


@pytest.mark.parametrize(("grant", "grows"), [("free", True), ("idle", False)])
def test_while_somebody_waits_servers_may_be_left_to_the_queue(grant, grows):
    """One node is free; the job that waits wants two and a server's."""
    result = run([(0, 1, (("write", 0, 10),)), (1, 2, ALL)], 3, **GROWING | {"grant": grant})
    assert bool(changes(result)) is grows


def test_nodes_given_up_are_kept_until_the_data_have_moved():
    """Writes want a second server and reads do without: 10 GB lie on two, 5 of them move, all to the first."""
    both = (("write", 0, 10), ("fetch", 0, 8))
    given = GROWING | {"recommended": 8e8, "redistribute": "partial"}
    result = run([(0, 1, both)], 3, **given)
    shrinks = 10 * WRITE + 4 * READ
    (_, more), (moved, fewer) = changes(result)
    assert (more, fewer, moved) == (1, -1, pytest.approx(shrinks + 5 * MOVE))
    assert ends(result) == pytest.approx([shrinks + 5 * MOVE + 4 * READ + 10])


class Grants(fb.Policy):
    """First come, first served, after requests: what `grant=free` does."""

    resizes = True

    def decide(self, view, act):
        for job in view.points:
            if view.wants(job) and view.wants(job) - len(view.nodes_of(job)) <= act.free[0]:
                act.resize(job, view.wants(job))
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


@pytest.mark.parametrize(
    "policy", ["fcfs", "fcfs-malleable", "fcfs-easy", Grants()], ids=lambda policy: getattr(policy, "name", policy)
)
def test_what_is_given_up_is_free_for_others_only_then(policy):
    """Job 2 starts on the second server's node when the data have moved off it, whoever answers requests."""
    jobs = [(0, 1, (("write", 0, 10), ("fetch", 0, 8))), (10, 1, (("compute", 5, 0),))]
    result = run(jobs, 3, policy, **GROWING | {"recommended": 8e8, "redistribute": "partial"})
    back = changes(result)[-1][0]
    assert back == pytest.approx(10 * WRITE + 4 * READ + 5 * MOVE)
    assert result.jobs["starting_time"][1] == back


def test_a_job_that_fills_the_machine_uses_its_file_system():
    result = run([(0, 4, ALL), (0, 1, ALL)], 4)
    assert ends(result)[0] == pytest.approx(125)
    assert result.jobs["mean_servers"].to_list() == [0.0, pytest.approx(1.0)]
    assert any("1 job leaves no node of the machine to a server" in note for note in result.facts["notes"])


def test_data_ask_for_as_many_servers_as_hold_them():
    """15 GB in all: the input, the checkpoint and the output."""
    result = run([(0, 2, ALL)], 16, holds=4e9)
    assert result.jobs["requested_number_of_resources"].item() == 2 + 4


def test_a_job_without_io_has_no_servers():
    result = run([(0, 1, ALL), (0, 2, (("compute", 7, 0),))], 4)
    assert ends(result)[1] == 7
    assert result.jobs["mean_servers"][1] == 0


def test_a_job_that_only_computes_goes_through_its_phases():
    made = workload((0, 1, ALL), (0, 1, (("compute", 6, 0),)))
    made = replace(made, jobs=made.jobs.with_columns(run_time=pl.lit(6000.0)))
    for servers in ("none", "fixed", "malleable"):
        assert ends(fb.simulate(made, "flat:nodes=9,pfs=1GB/s", job_model=f"adhoc:servers={servers}"))[1] == 6


def test_requests_of_burst_buffer_are_what_jobs_keep():
    """2 hours of computing: read D, compute, checkpoint D / 2, compute, write D."""
    jobs = job_table(
        {"id": [1], "submit": [0.0], "walltime": [1e5], "run_time": [7200.0], "nodes": [1], "burst_buffer": [4 * 10**9]}
    )
    result = fb.simulate(
        fb.Workload("asks", jobs), "flat:nodes=4,pfs=1GB/s,burst_buffer=1GB", job_model="adhoc:block=1000000"
    )
    assert ends(result) == pytest.approx([4 + 4 * READ + 7200 + 6 * WRITE + 4])
    assert fb.metrics.utilisation(result, "burst_buffer") == 0


@pytest.mark.parametrize("servers", ["none", "fixed", "malleable"])
def test_messages_keep_the_ports_of_computing_nodes_as_busy(servers):
    jobs = job_table(
        {
            "id": [1], "submit": [0.0], "walltime": [1e5], "run_time": [1.0], "nodes": [3],
            "communication": [GB], "burst_buffer": [1],
        }
    )  # fmt: skip
    made, machine = fb.Workload("talks", jobs), "flat:nodes=9,pfs=1GB/s,port=1GB/s"
    result = fb.simulate(made, machine, job_model=f"adhoc:servers={servers}")
    assert ends(result) == pytest.approx([2.0], abs=1e-3)


def test_servers_come_and_go_while_nodes_fail():
    """A job that fails starts again with as many servers as at first."""
    made = workload((0, 1, (("write", 0, 10), ("compute", 100, 0))))
    result = fb.simulate(
        made, "flat:nodes=3,pfs=1GB/s", "fcfs", job_model="adhoc:" + ",".join(f"{k}={v}" for k, v in GROWING.items()),
        failures="mtbf=60s,downtime=1s,seed=3,max_attempts=50",
    )  # fmt: skip
    assert result.jobs["final_state"].item() == "COMPLETED_SUCCESSFULLY"
    assert result.jobs["n_attempts"].item() > 1
    assert result.log.filter(pl.col("kind") == "start")["amount"].unique().to_list() == [2]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"servers": "some"}, "servers is 'some'"),
        ({"nodes": "lent"}, "nodes is 'lent'"),
        ({"start": 0}, "start is 0; give a number above 0"),
        ({"start": 5}, "start is 5 servers for each node of a job, and the machine has 4 nodes; give fewer"),
        ({"servers": "malleable", "most": 0.1}, "most is 0.1, and start is 0.25"),
        ({"servers": "malleable", "nodes": "own"}, "as many as these"),
        ({"write": 0}, "write is 0; give a number above 0"),
        ({"recommended": -1}, "recommended is -1; give a number from 0 up"),
        ({"tolerance": -0.1}, "tolerance is -0.1; give a number from 0 up"),
        ({"window": 0}, "window is 0; give a whole number from 1 up"),
        ({"block": 0}, "block is 0; give a whole number from 1 up"),
        ({"holds": 1e9}, "job 1 keeps 15 GB, and the 3 servers that it can have hold 1 GB each"),
        ({"redistribute": "all"}, "redistribute is 'all'"),
        ({"grant": "never"}, "grant is 'never'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(parameters, says):
    with pytest.raises(fb.errors.InputError, match="job model 'adhoc': ") as error:
        run([(0, 1, ALL)], 4, **parameters)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("platform", "says"),
    [
        ("flat:nodes=4", "has none; add a tier of kind pfs"),
        ("dragonfly-96", "a burst buffer in chunks on servers"),
        ("sas2019", "storage for policies to choose"),
    ],
)
def test_machines_on_which_servers_would_meet_others_are_refused(platform, says):
    with pytest.raises(fb.errors.InputError, match="job model 'adhoc'") as error:
        fb.simulate(workload((0, 1, ALL)), platform, job_model="adhoc")
    assert says in str(error.value)


def test_links_between_nodes_are_refused_unless_there_are_no_servers(tmp_path):
    machine = tmp_path / "machine.toml"
    machine.write_text(
        'name = "far"\nnodes = 8\n[topology]\nkind = "dragonfly"\ngroups = 2\nchassis = 2\nrouters = 2\nports = 1\n'
        'bandwidth = "1 GB/s"\n[tiers.pfs]\nkind = "pfs"\nbandwidth = "1 GB/s"\n'
    )
    made = workload((0, 1, ALL))
    with pytest.raises(fb.errors.InputError, match="links between nodes that servers would share"):
        fb.simulate(made, machine, job_model="adhoc")
    assert ends(fb.simulate(made, machine, job_model="adhoc:servers=none"))[0] > 100


def test_rates_of_all_sizes_at_once_are_those_of_each():
    from forebay.adhoc.throughput import D33_DEVICE, D33_LINK, throughputs

    table = throughputs(5, 7, 10**6, D33_DEVICE, D33_LINK)
    for clients in range(1, 6):
        each = fb.adhoc.steady_throughput(clients, np.arange(1, 8), 10**6)
        assert table[clients - 1].tolist() == each.tolist()


def test_more_on_servers_than_the_log_can_hold_is_refused():
    """Each phase could be, but growing servers hand on what all of them have written."""
    half = 5e9  # GB: 5e18 bytes
    job = (0, 2, (("checkpoint", 0, half), ("compute", 1, 0), ("checkpoint", 0, half)))
    with pytest.raises(fb.errors.InputError, match=r"job 1 keeps more bytes on its servers than the log can hold"):
        run([job], 3, **GROWING)
