"""SWF with resources beyond nodes: a header `BurstBuffer` lists capacities, and columns after the 18th the requests."""

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload.formats import swf

pytestmark = pytest.mark.small

HEAD = "; MaxProcs: 64\n"


def line(job, *requests):
    return " ".join(map(str, [job, job, -1, 10, 4, -1, -1, 8, 60, *[-1] * 9, *requests]))


@pytest.fixture
def file(tmp_path):
    def put(text):
        path = tmp_path / "trace.swf"
        path.write_bytes(text.encode())
        return path

    return put


def test_one_capacity_is_the_burst_buffer(file):
    w = swf.read(file(f"{HEAD}; BurstBuffer: 500\n{line(1, 300)}\n{line(2, 0)}"))
    assert w.resources == ("burst_buffer",)
    assert w.jobs["burst_buffer"].to_list() == [300, 0]
    assert w.platform == "flat:nodes=64,burst_buffer=500B"
    assert w.notes == ()
    assert fb.platform(w.platform).capacities == (64, 500)


def test_several_capacities_are_numbered_and_make_pools(file):
    w = swf.read(file(f"{HEAD}; BurstBuffer: 500, 20\r\n{line(1, 300, 7)}\r\n{line(2, 0, 20)}\r\n"))
    assert w.resources == ("resource_1", "resource_2")
    assert w.jobs.select(w.resources).rows() == [(300, 7), (0, 20)]
    machine = fb.platform(w.platform)
    assert machine.resources == ("nodes", "resource_1", "resource_2")
    assert machine.capacities == (64, 500, 20)


def test_a_pool_keeps_jobs_apart_that_nodes_would_not(file):
    w = swf.read(file(f"{HEAD}; BurstBuffer: 10, 10\n{line(1, 6, 0)}\n{line(2, 6, 0)}\n{line(3, 4, 0)}"))
    jobs = fb.simulate(w, policy="fcfs-bb").jobs
    assert jobs.sort("job_id")["starting_time"].to_list() == [0.0, 10.0, 2.0]  # 6 + 6 > 10, but 6 + 4 fits


def test_both_ways_of_parsing_agree(file):
    text = f"{HEAD}; BurstBuffer: 5, 6\n{line(1, 3, 4)}\n{line(2, 1, 2)}\n"
    quick = swf.read(file(text)).jobs
    careful = swf.read(file(text.replace("\n2 ", "\n\x0c2 "))).jobs  # a form feed is white space, though not plain
    assert quick.equals(careful)


def test_unknown_requests_are_none_and_noted(file):
    w = swf.read(file(f"{HEAD}; BurstBuffer: 5, 6\n{line(1, -1, 4)}\n{line(2, 1, 2)}"))
    assert w.jobs["resource_1"].to_list() == [0, 1]
    assert w.notes == ("resource_1 of 1 job is not known: taken as 0",)


def test_columns_beyond_those_the_header_names_are_noted(file):
    w = swf.read(file(f"; BurstBuffer: 5\n{line(1, 4, 9)}"))
    assert w.notes == ("1 column after SWF's 18 and the 1 of its BurstBuffer header is not read",)
    assert w.platform is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{HEAD}; BurstBuffer: 5, 6\n{line(1, 3)}", "line 3: 19 fields, and SWF has 18 and the header BurstBuffer"),
        (f"{HEAD}; BurstBuffer: 5, 6\n{line(1, 3, 'x')}", r"line 3: field 20 \(request of resource 2\) is 'x'"),
        (f"{HEAD}; BurstBuffer: 5\n{line(1, 2.5)}", "line 3: the burst_buffer is 2.5; it must be a whole number"),
        (f"{HEAD}; BurstBuffer: 5, lots\n{line(1, 3, 3)}", "line 2: the header BurstBuffer lists 'lots'"),
        (f"{HEAD}; BurstBuffer: 0\n{line(1, 3)}", "line 2: the header BurstBuffer lists '0'"),
        (f"{HEAD}; BurstBuffer:\n{line(1, 3)}", "line 2: the header BurstBuffer lists ''"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(file, text, says):
    with pytest.raises(InputError, match=says):
        swf.read(file(text))


@pytest.mark.parametrize("requests", [(7,), (7, 8), (7, 8, 9)])
def test_written_files_keep_them(file, tmp_path, requests):
    capacities = ", ".join("10" for _ in requests)
    w = swf.read(file(f"{HEAD}; BurstBuffer: {capacities}\n{line(1, *requests)}\n{line(2, *requests)}"))
    assert swf.write(w, tmp_path / "again.swf") == []
    again = swf.read(tmp_path / "again.swf")
    assert again.jobs.equals(w.jobs)
    assert again.platform == w.platform


@pytest.mark.parametrize(("pools", "says"), [("5/x", "x"), ("5//6", "''"), ("0", "not above 0")])
def test_pools_of_a_flat_machine_are_whole_units(pools, says):
    with pytest.raises(InputError, match=says):
        fb.platform(f"flat:nodes=4,pools={pools}")


def test_the_published_ten_resource_trace_runs_on_its_own_machine(data):
    w = swf.read(data / "swf" / "bbsched_test.swf")
    assert len(w.resources) == 10
    assert w.platform == "flat:nodes=4392,pools=" + "/".join(["5000"] * 10)
    assert w.jobs.select(w.resources).row(0) == (4972, 4878, 4961, 4568, 4821, 4873, 4836, 4377, 4118, 2578)
    jobs = fb.simulate(w, policy="fcfs-bb").jobs
    assert (jobs["starting_time"] >= jobs["submission_time"]).all()
