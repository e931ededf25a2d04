"""Why jobs waited: pieces add up to waits, and each names what was really short and who was really in the way."""

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import forebay as fb
from cases import breaking, flexible, pooled, tiered, transfers
from forebay.explain import REASONS, reasons
from forebay.metrics import window
from forebay.policies import Limited, Limits, load
from twins.tape import Tape

EIGHT = ("fcfs", "fcfs-easy", "filler", "fcfs-bb", "sjf-bb", "conservative-bb", "bbsched-exact", "plan-best")
SHORT = ("nodes", "burst_buffer", "pool")


def check(result, fits=True):
    """The pieces of a run; `fits`: whether amounts alone decide what fits."""
    why, tape = reasons(result), Tape(result)
    queued = why.filter(pl.col("reason") != "stage_in")
    pieces = defaultdict(list)
    for row in queued.rows(named=True):
        pieces[row["job_id"]].append(row)
        assert row["slurm"] == REASONS[row["reason"]]
        assert row["seconds"] == row["end"] - row["start"] > 0
        other = row["blocker"]
        if other is not None:
            assert other != row["job_id"]
            behind = row["reason"] not in SHORT
            assert (tape.waited if behind else tape.holds)(other, row["start"], row["end"]), row
        if row["end"] - row["start"] > 1e-5:
            check_amounts(tape, row, fits)
    # A wait as short as an instant is the rounding of its ends.
    assert set(pieces) == {job for job, spans in tape.waits.items() if any(b - a > 1e-6 for a, b in spans)}
    for job, rows in pieces.items():
        joined = []
        for row in rows:
            if joined and joined[-1][1] == row["start"]:
                joined[-1][1] = row["end"]
            else:
                joined.append([row["start"], row["end"]])
        spans = tape.waits[job]
        assert sum(b - a for a, b in joined) == pytest.approx(sum(b - a for a, b in spans))
        assert {edge for span in joined for edge in span} <= {edge for span in spans for edge in span}
    total = queued.group_by(job="job_id").agg(pl.sum("seconds"))
    began = result.jobs.filter(pl.col("total_wait").is_not_null()).select("total_wait", job=pl.col("job_id"))
    both = began.join(total, on="job", how="left").fill_null(0)
    assert both["seconds"].to_list() == pytest.approx(both["total_wait"].to_list(), abs=1e-6)
    return why


def check_amounts(tape, row, fits):
    """When a piece began, what was short was short, and where nothing is said to be, nothing was."""
    [until] = [b for a, b in tape.waits[row["job_id"]] if a <= row["start"] < b]
    need = tape.needs[row["job_id"], until]
    if not need or not fits or row["reason"] in ("said", "user_jobs", "user_nodes"):
        return
    lacking = {name for name, amount in need.items() if amount > tape.free(row["start"], name)}
    if row["reason"] in ("nodes", "node_down"):
        assert "nodes" in lacking, row
    elif row["reason"] in ("reserved", "order", "policy"):
        assert not lacking, row
    elif row["detail"].find("servers lack room") < 0:
        assert row["detail"].partition(":")[0].replace(" ", "_") in lacking, row


@pytest.mark.small
def test_the_example_of_the_paper():
    """Kopanski & Rzadca (2021), Fig. 1: 3 cannot have its 8 TB while 1 holds 4 of 10, and keeps its nodes from 4."""
    result = fb.simulate("table1", policy="fcfs-easy")
    why = check(result)
    rows = why.select("job_id", "start", "end", "reason", "slurm", "blocker").rows()
    assert [row[1:] for row in rows if row[0] == 3] == [(60, 600, "burst_buffer", "BurstBufferResources", 1)]
    assert [row[1:] for row in rows if row[0] == 4] == [
        (120, 180, "reserved", "Priority", 3),
        (180, 240, "nodes", "Resources", 6),
        (240, 600, "reserved", "Priority", 3),
        (600, 660, "nodes", "Resources", 3),
    ]
    chain = fb.explain.chain(result, 4).select("job_id", "reason", "blocker").rows()
    assert chain == [(4, "reserved", 3), (3, "burst_buffer", 1)]
    assert fb.explain.chain(result, 1).is_empty()


@pytest.mark.small
def test_who_is_in_the_way_gives_back_last_what_is_short():
    """4 nodes; 1 has 2 until 10, 2 has 2 until 20: 3 needs 2 and waits for 1, 4 needs 4 and waits for 2.

    Under filler, 3 starts at 10 and ends at 15: 4 waits for 2 all the same.
    """
    jobs = [(1, 0, 10, 2), (2, 0, 20, 2), (3, 1, 5, 2), (4, 1, 5, 4)]
    rows = [{"id": i, "submit": float(s), "walltime": float(w), "nodes": n} for i, s, w, n in jobs]
    result = fb.simulate(pooled.workload(rows), pooled.platform(4), "filler")
    found = check(result).select("job_id", "start", "end", "reason", "blocker").rows()
    assert found == [(3, 1, 10, "nodes", 1), (4, 1, 20, "nodes", 2)]


@pytest.mark.small
def test_limits_of_a_user():
    """Of user 1, one job at a time: 2 waits for 1, though nodes are idle, and is behind nobody."""
    rows = [{"id": i, "submit": 0.0, "walltime": 10.0, "nodes": 1, "user": 1} for i in (1, 2)]
    result = fb.simulate(pooled.workload(rows), pooled.platform(4), "fcfs+limits:user_jobs=1")
    [row] = check(result).rows(named=True)
    assert (row["job_id"], row["seconds"], row["reason"], row["blocker"]) == (2, 10, "user_jobs", None)
    assert row["slurm"] == "QOSMaxJobsPerUserLimit"
    assert row["detail"] == "its user has 1 of 1 jobs begun"


@pytest.mark.small
def test_failed_nodes_that_would_do(tmp_path):
    """2 nodes; node 0 fails at 0 for 30 s. Job 1 asks for both at 5: nobody else is there."""
    outages = tmp_path / "outages.csv"
    outages.write_text("node,down,up\n0,1,30\n")
    rows = [{"id": 1, "submit": 5.0, "walltime": 10.0, "nodes": 2}]
    result = fb.simulate(pooled.workload(rows), pooled.platform(2), "fcfs", failures=outages)
    [row] = check(result).rows(named=True)
    assert (row["start"], row["end"], row["reason"], row["slurm"]) == (5, 30, "node_down", "ReqNodeNotAvail")


class Sulking:
    """Starts nobody before 50, and says so of the first."""

    def decide(self, view, act):
        if view.now < 50:
            act.wake(50)
            first, *others = view.queue
            act.say(first, "it is too early")
            for job in others:
                act.say(job, " behind the first ", behind=first)
            return
        for job in view.queue:
            if act.fits(job):
                act.start(job)


@pytest.mark.small
def test_what_a_policy_says():
    """Until 50 it says why; what waits after that waits for nodes."""
    rows = [{"id": i, "submit": 0.0, "walltime": 10.0, "nodes": 3} for i in (7, 8)]
    result = fb.simulate(pooled.workload(rows), pooled.platform(4), Sulking())
    found = check(result).select("job_id", "start", "end", "reason", "detail", "blocker").rows()
    assert found == [
        (7, 0, 50, "said", "it is too early", None),
        (8, 0, 50, "said", "behind the first (behind job 7)", 7),
        (8, 50, 60, "nodes", "nodes: 1 of 3 are free; job 7 holds 3 until 1 min", 7),
    ]
    assert result.said.rows()[:2] == [(0, 7, "it is too early", None), (0, 8, "behind the first", 7)]


@pytest.mark.small
def test_what_is_said_outlives_the_run(tmp_path):
    rows = [{"id": i, "submit": 0.0, "walltime": 10.0, "nodes": 3} for i in (7, 8)]
    result = fb.simulate(pooled.workload(rows), pooled.platform(4), Sulking())
    assert "said.parquet" in [file.name for file in result.save(tmp_path)]
    assert fb.load(tmp_path).said.equals(result.said)
    assert reasons(fb.load(tmp_path)).equals(reasons(result))


@pytest.mark.small
def test_data_staged_in_before_there_are_nodes():
    """Three legs: the first takes buffer alone. While it runs the job does not queue, but its user waits."""
    rows = [{"id": 1, "submit": 0.0, "walltime": 100.0, "nodes": 1, "burst_buffer": 100}]
    work = transfers.workload(rows)
    platform = fb.platform("flat:nodes=1,burst_buffer=200B,pfs=10B/s")
    why = check(fb.simulate(work, platform, "slurm-bb", job_model="three-legs"))
    assert why.select("start", "end", "reason", "slurm").rows() == [(0, 10, "stage_in", "BurstBufferStageIn")]


@pytest.mark.small
def test_a_window_has_the_jobs_in_it_alone():
    result = fb.simulate("table1", policy="fcfs-easy")
    part = reasons(window(result, 0, 130))
    assert part.equals(reasons(result).filter(pl.col("job_id").is_in([3, 4])))


@pytest.mark.small
def test_a_job_that_is_not_there():
    with pytest.raises(fb.ForebayError, match="job 9 is not in the run: its 8 jobs have numbers from 1 to 8"):
        fb.explain.chain(fb.simulate("table1"), 9)


@settings(max_examples=12)
@given(st.integers(0, 3000), st.sampled_from(EIGHT[:6]))
@example(400, "filler")  # it has a piece of 4e-15 s, which is the rounding of its ends
def test_jobs_of_legs_and_pools(seed, policy):
    work, platform = pooled.make(seed)
    why = check(fb.simulate(work, platform, policy))
    if policy == "filler":  # it starts whatever fits
        assert set(why["reason"]) <= {"nodes", "burst_buffer", "pool", "stage_in"}


@settings(max_examples=12)
@given(st.integers(0, 3000))
def test_cancelled_and_limited_jobs(seed):
    work, platform = pooled.make(seed)
    policy = Limited(load("filler"), Limits(**pooled.limits(seed)))
    result = fb.simulate(pooled.with_cancels(work, seed), platform, policy)
    why = check(result)
    # What a leg that never began would have taken is not known.
    whole = result.jobs.filter(pl.col("final_state") == "COMPLETED_SUCCESSFULLY")["job_id"]
    assert set(why.filter(pl.col("job_id").is_in(whole.implode()))["reason"]) <= {
        "nodes",
        "burst_buffer",
        "pool",
        "user_jobs",
        "user_nodes",
        "stage_in",
    }


@settings(max_examples=12)
@given(st.integers(0, 3000))
def test_nodes_of_two_kinds(seed):
    work, platform = pooled.with_kinds(*pooled.make(seed), seed)
    check(fb.simulate(work, platform, "fcfs-bb"), fits=False)


@settings(max_examples=12)
@given(st.integers(0, 3000))
def test_chunks_and_transfers(seed):
    work, platform = transfers.make(seed)
    name, params, model = transfers.policy(seed)
    check(fb.simulate(work, platform, transfers.spec(name, params), job_model=model))
    why = check(fb.simulate(work, platform, "filler", job_model=model))
    assert set(why["reason"]) <= {"nodes", "burst_buffer", "pool", "stage_in"}


@settings(max_examples=12)
@given(st.integers(0, 3000))
def test_tiers(seed):
    work, platform = tiered.make(seed)
    name, params, _ = tiered.policy(seed)
    check(fb.simulate(work, platform, tiered.spec(name, params)))


@settings(max_examples=12)
@given(st.integers(0, 3000), st.booleans())
def test_failures(seed, chunked):
    work, platform, failures = breaking.make(seed, chunked)
    why = check(fb.simulate(work, platform, "filler", seed, failures=failures), fits=False)
    assert not {"order", "reserved"} & set(why["reason"])


@pytest.mark.parametrize("policy", ["fcfs-malleable", "fcfs-bb"])
def test_malleable_jobs(policy):
    check(fb.simulate(flexible.growing(), "flat:nodes=16", policy, job_model="application"))


@pytest.mark.parametrize("policy", EIGHT)
def test_the_default_workload(policy):
    work = fb.read("default")
    first = fb.workload.Workload(work.name, work.jobs.head(300), platform=work.platform)
    check(fb.simulate(first, policy=policy), fits=False)


@pytest.mark.full
@pytest.mark.parametrize("policy", EIGHT)
def test_all_of_the_default_workload(policy):
    result = fb.simulate("default", policy=policy)
    total = reasons(result).group_by("job_id").agg(pl.sum("seconds"))
    both = result.jobs.join(total, on="job_id", how="left").with_columns(pl.col("seconds").fill_null(0))
    assert both["seconds"].to_list() == pytest.approx(both["total_wait"].to_list(), abs=1e-6)


@pytest.mark.small
@pytest.mark.parametrize(("said", "message"), [("", "said '' of a job"), (7, "said 7 of a job")])
def test_a_reason_is_text(said, message):
    class Mumbling:
        def decide(self, view, act):
            act.say(view.queue[0], said)

    with pytest.raises(fb.ForebayError, match=message):
        fb.simulate("table1", policy=Mumbling())


@pytest.mark.small
def test_saying_something_changes_nothing():
    class Silent:
        def decide(self, view, act):
            for job in view.queue:
                if act.fits(job):
                    act.start(job)

    class Talking(Silent):
        def decide(self, view, act):
            for job in view.queue:
                act.say(job, f"at {view.now}")
            super().decide(view, act)

    silent, talking = (fb.simulate("table1", policy=policy()) for policy in (Silent, Talking))
    assert silent.facts["log_sha256"] == talking.facts["log_sha256"]
    assert silent.said.is_empty()
    assert not talking.said.is_empty()
