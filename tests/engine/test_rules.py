"""Limits of a site: solved by hand, and against a slow twin on random workloads."""

import math

import polars as pl
import pytest

import forebay
from cases import pooled, site
from cases.chunks import chunks, uncompiled
from cases.pooled import platform, workload
from forebay.explain import reasons
from forebay.platforms import Partition, Rule
from forebay.policies._families.backfill import Backfill
from forebay.policies._orders import ALL
from forebay.workload import dependency_table
from twins.backfill import PRESETS, simulate
from twins.compare import compare

CHUNKS, CHUNK = 20, 10


def job(number, submit, walltime, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "user": 1, **more}


def run(jobs, n_nodes, *rules, policy="fcfs", names=None):
    made = workload(jobs)
    if names:
        made = forebay.Workload("named", made.jobs, names=names)
    return forebay.simulate(made, platform(n_nodes).model_copy(update={"limits": tuple(rules)}), policy)


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


def why(result):
    return {row["job_id"]: (row["slurm"], row["seconds"]) for row in reasons(result).rows(named=True)}


@pytest.mark.small
def test_jobs_of_a_qos_run_one_after_the_other():
    """8 nodes. QOS 1 may run two jobs: 1 and 2 at 0, 3 at 10; 4 of QOS 2 is not in their way."""
    jobs = [job(i, 0, 10, 1, qos=1) for i in (1, 2, 3)] + [job(4, 0, 10, 1, qos=2)]
    result = run(jobs, 8, Rule(qos="1", GrpJobs=2))
    assert starts(result) == {1: 0.0, 2: 0.0, 3: 10.0, 4: 0.0}
    assert why(result) == {3: ("QOSGrpJobsLimit", 10.0)}


@pytest.mark.small
def test_nodes_of_an_account_all_together():
    """Account phys may have 4 of 8 nodes: 1 (3 nodes) to 10; 2 (2 nodes) waits for it, 3 (1 node) does not."""
    jobs = [job(1, 0, 10, 3, account=7), job(2, 0, 10, 2, account=7), job(3, 0, 20, 1, account=7)]
    result = run(jobs, 8, Rule(account="phys", GrpTRES="node=4"), names={"account": {7: "phys"}})
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 0.0}
    assert why(result) == {2: ("AssocGrpNodeLimit", 10.0)}


@pytest.mark.small
def test_each_user_of_a_partition_has_a_limit_of_its_own():
    """In partition 3 a user may run one job; user 2 is another, and partition 4 has no limit."""
    jobs = [job(1, 0, 10, 1, queue=3), job(2, 0, 10, 1, queue=3), job(3, 0, 10, 1, queue=4)]
    jobs += [job(4, 0, 10, 1, queue=3) | {"user": 2}]
    result = run(jobs, 8, Rule(partition="3", MaxJobsPerUser=1))
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 0.0, 4: 0.0}
    assert why(result) == {2: ("QOSMaxJobsPerUserLimit", 10.0)}


@pytest.mark.small
def test_a_user_with_too_many_submitted_is_turned_away_until_one_has_ended():
    """Two submitted at a time: 3 comes while 1 runs and 2 waits, and is rejected; at 10 job 1 is over, 4 may come."""
    jobs = [job(1, 0, 10, 1), job(2, 1, 10, 1), job(3, 2, 5, 1), job(4, 10, 5, 1)]
    result = run(jobs, 1, Rule(MaxSubmitJobs=2))
    assert starts(result) == {1: 0.0, 2: 10.0, 3: None, 4: 20.0}
    rejected = result.log.filter(result.log["kind"] == "reject").select("job", "reason").rows()
    assert rejected == [(3, "over_limit")]


@pytest.mark.small
def test_a_user_with_too_many_submitted_tries_again():
    """One node, two submitted at a time. 3 and 4 come while 1 runs and 2 waits; at 10 job 1 ends and 3 is submitted,
    before 5, which comes in that instant. 2 ends at 20: 4 is submitted, and 5 when 3 ends at 25. 6 is another's."""
    jobs = [job(1, 0, 10, 1), job(2, 1, 10, 1), job(3, 2, 5, 1), job(4, 3, 5, 1), job(5, 10, 5, 1)]
    jobs += [job(6, 11, 5, 1) | {"user": 2}]
    result = run(jobs, 1, Rule(MaxSubmitJobs=2, over_submit="wait"))
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 20.0, 6: 25.0, 4: 30.0, 5: 35.0}
    table = {row["job_id"]: row for row in result.jobs.to_dicts()}
    assert {i: table[i]["eligible_time"] for i in table} == {1: 0.0, 2: 1.0, 3: 10.0, 4: 20.0, 5: 25.0, 6: 11.0}
    assert [table[3][name] for name in ("submission_time", "waiting_time", "planned_time")] == [2.0, 18.0, 10.0]
    pieces = reasons(result).filter(pl.col("slurm") == "QOSMaxSubmitJobPerUserLimit")
    assert dict(pieces.select("job_id", "seconds").rows()) == {3: 8.0, 4: 17.0, 5: 15.0}
    assert pieces["detail"][0] == "its user has 2 of 2 jobs submitted: it waits to be submitted again"
    assert pieces["reason"].unique().to_list() == ["limit"]


@pytest.mark.small
def test_one_that_finds_no_room_is_passed_by_others():
    """Users have one submitted each, all together three. 2 (user 1) and 4 (user 4) wait outside while 1, 3 and 5 run;
    at 10 job 3 of user 2 ends: 2 still finds no room, 4 does. 2 comes in when 1 ends."""
    jobs = [job(1, 0, 30, 1), job(2, 1, 5, 1), job(3, 2, 8, 1) | {"user": 2}, job(5, 3, 30, 1) | {"user": 3}]
    jobs += [job(4, 4, 5, 1) | {"user": 4}]
    result = run(jobs, 8, Rule(MaxSubmitJobs=1, GrpSubmit=3, over_submit="wait"))
    assert starts(result) == {1: 0.0, 2: 30.0, 3: 2.0, 4: 10.0, 5: 3.0}


@pytest.mark.small
def test_a_job_that_is_withdrawn_before_it_could_be_submitted():
    jobs = [job(1, 0, 10, 1), job(2, 1, 10, 1, cancel=4.0), job(3, 2, 5, 1)]
    result = run([{"cancel": math.inf} | row for row in jobs], 1, Rule(MaxSubmitJobs=1, over_submit="wait"))
    assert starts(result) == {1: 0.0, 2: None, 3: 10.0}
    states = dict(result.jobs.select("job_id", "final_state").rows())
    assert states[2] == "CANCELLED"
    [piece] = reasons(result).filter(pl.col("job_id") == 2).to_dicts()
    assert (piece["start"], piece["end"], piece["slurm"]) == (1.0, 5.0, "QOSMaxSubmitJobPerUserLimit")


@pytest.mark.small
def test_jobs_that_run_already_are_in():
    """1 and 2 run since before the beginning, more jobs than a user may have submitted: neither is rejected.
    3 comes in when both are over, 2 at 8."""
    jobs = [job(1, -10, 15, 1, running_since=-10.0), job(2, -9, 15, 1, running_since=-7.0)]
    jobs += [job(3, 1, 5, 1, running_since=math.nan)]
    result = run(jobs, 8, Rule(MaxSubmitJobs=1, over_submit="wait"))
    assert starts(result) == {1: -10.0, 2: -7.0, 3: 8.0}


@pytest.mark.small
def test_a_limit_of_none_lets_nobody_wait_for_ever():
    result = run([job(1, 0, 10, 1)], 1, Rule(MaxSubmitJobs=0, over_submit="wait"))
    assert starts(result) == {1: None}


@pytest.mark.small
def test_a_job_that_waits_for_another_while_it_is_outside():
    """User 1 has one submitted at a time: 2 comes in at 10, 3 at 30. By then 1 is over, after which 3 may start: it
    starts at once, and 4, which waits for it, at 35. 6 waits for 5, which fails, and is rejected as it comes in."""
    jobs = [job(1, 0, 10, 1), job(2, 0, 20, 1), job(3, 1, 5, 1), job(4, 2, 5, 1) | {"user": 2}]
    jobs += [job(5, 2, 5, 1, run_time=9.0) | {"user": 2}, job(6, 3, 5, 1)]
    links = dependency_table({"job": [3, 4, 6], "parent": [1, 3, 5], "kind": ["afterok"] * 3})
    made = forebay.Workload(
        "chain", workload([{"run_time": row["walltime"]} | row for row in jobs]).jobs, dependencies=links
    )
    machine = platform(8).model_copy(update={"limits": (Rule(user="1", MaxSubmitJobs=1, over_submit="wait"),)})
    result = forebay.simulate(made, machine, "fcfs")
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 30.0, 4: 35.0, 5: 2.0, 6: None}
    rejected = result.log.filter(result.log["kind"] == "reject").select("time", "job", "reason").rows()
    assert rejected == [(35.0, 6, "dependency")]
    assert reasons(result).filter(pl.col("job_id") == 4).select("reason", "seconds").rows() == [("dependency", 33.0)]


@pytest.mark.small
def test_a_job_beyond_what_any_may_have_is_rejected():
    jobs = [job(1, 0, 10, 3), job(2, 0, 61, 1), job(3, 0, 60, 2), job(4, 0, math.inf, 1, run_time=5.0)]
    result = run(jobs, 8, Rule(MaxTRES="node=2", MaxWall="1:00"))
    assert starts(result) == {1: None, 2: None, 3: 0.0, 4: None}


@pytest.mark.small
def test_node_minutes_still_to_run():
    """4 node-minutes: 1 has 2 nodes x 1 min ahead, 2 asks for 3 nodes x 1 min. At 30 job 1 has 1 left: 2 would fit,
    and is looked at when 3 ends then."""
    jobs = [job(1, 0, 60, 2), job(2, 0, 60, 3), job(3, 0, 30, 1) | {"user": 2}]
    result = run(jobs, 8, Rule(user="1", GrpTRESRunMins="node=4"))
    assert starts(result) == {1: 0.0, 2: 30.0, 3: 0.0}
    assert why(result) == {2: ("AssocGrpNodeRunMinutes", 30.0)}


@pytest.mark.small
def test_amounts_of_any_resource():
    """Users have 6 of 10 of the buffer: 2 waits for 1, though 4 are free and it needs 3."""
    jobs = [job(1, 0, 10, 1, burst_buffer=4), job(2, 0, 10, 1, burst_buffer=3)]
    machine = platform(4, 10).model_copy(update={"limits": (Rule(MaxTRESPerUser="bb/burst_buffer=6"),)})
    result = forebay.simulate(workload(jobs), machine, "fcfs")
    assert starts(result) == {1: 0.0, 2: 10.0}
    assert why(result) == {2: ("QOSMaxBBPerUser", 10.0)}


@pytest.mark.small
def test_a_partition_says_how_long_how_wide_and_how_many():
    """Partition 0 is the default: at most 2 nodes for 60 s, and one job at a time; partition 1 takes none."""
    parts = (
        Partition(name="short", nodes="all", default=True, max_time=60.0, max_nodes=2, max_jobs=1),
        Partition(name="old", nodes="all", state="drain"),
    )
    machine = platform(8).model_copy(update={"partitions": parts})
    jobs = [job(1, 0, 60, 2), job(2, 0, 60, 1, queue=0), job(3, 0, 61, 1), job(4, 0, 9, 3), job(5, 0, 9, 1, queue=1)]
    jobs = [{"queue": -1} | row for row in jobs]
    made = forebay.Workload("parts", workload(jobs).jobs, names={"queue": {0: "short", 1: "old"}})
    result = forebay.simulate(made, machine, "fcfs")
    assert starts(result) == {1: 0.0, 2: 60.0, 3: None, 4: None, 5: None}


@pytest.mark.small
def test_a_job_of_two_partitions_counts_in_both():
    """Each may have one job at a time: job 2 waits for job 1, and job 3 for job 2, which is in its partition too."""
    parts = (Partition(name="a", nodes="all", max_jobs=1), Partition(name="b", nodes="all", max_jobs=1))
    machine = platform(8).model_copy(update={"partitions": parts})
    jobs = [job(1, 0, 10, 1, queue=0), job(2, 1, 10, 1, queue=1), job(3, 12, 10, 1, queue=2)]
    made = forebay.Workload("parts", workload(jobs).jobs, names={"queue": {0: "a", 1: "a, b", 2: "b"}})
    assert starts(forebay.simulate(made, machine, "fcfs")) == {1: 0.0, 2: 10.0, 3: 20.0}


@pytest.mark.small
def test_names_that_nobody_has_are_noted_with_the_nearest():
    jobs = [job(1, 0, 10, 1, qos=1), job(2, 0, 10, 1, qos=2)]
    result = run(jobs, 4, Rule(qos="lnog", GrpJobs=1), names={"qos": {1: "long", 2: "short"}})
    assert starts(result) == {1: 0.0, 2: 0.0}
    assert any("'lnog' have no effect" in note and "did you mean 'long'?" in note for note in result.facts["notes"])


@pytest.mark.small
def test_an_amount_that_nothing_counts_is_refused():
    with pytest.raises(forebay.ForebayError, match=r"a limit names 'burst_bufer'.*did you mean 'burst_buffer'"):
        forebay.simulate(
            workload([job(1, 0, 10, 1, burst_buffer=1)]),
            platform(4, 10).model_copy(update={"limits": (Rule(GrpTRES="burst_bufer=3"),)}),
        )


@pytest.mark.small
def test_rules_that_bind_nobody_change_nothing():
    jobs = [job(i, i, 10 + i % 7, 1 + i % 4, qos=i % 3) | {"user": i % 5} for i in range(1, 40)]
    free = run(jobs, 6, policy="fcfs-easy")
    bound = run(jobs, 6, Rule(GrpJobs=1000), Rule(qos="1", MaxTRESPerUser="node=600"), policy="fcfs-easy")
    assert free.facts["log_sha256"] == bound.facts["log_sha256"]


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"qos": "long"}, "limits nothing"),
        ({"MaxJobPerUser": 4}, "did you mean 'MaxJobsPerUser'"),
        ({"MaxJobs": 1.5}, "not a whole number"),
        ({"MaxJobs": -2}, "below 0"),
        ({"MaxJobs": 2, "MaxJobsPerUser": 3}, "given twice"),
        ({"GrpTRES": "node"}, "not an amount"),
        ({"GrpTRES": "node=x"}, "not a whole number"),
        ({"GrpTRES": "billing=3"}, "billing is not counted"),
        ({"GrpTRES": "gers/gpu=3"}, "did you mean 'gres/gpu'"),
        ({"MaxWall": "60"}, "has no unit"),
        ({"qos": "", "GrpJobs": 1}, "not a name"),
        ({"GrpJobs": 1, "over_submit": "wait"}, "over_submit says nothing here; add a limit such as MaxSubmitPerUser"),
        ({"GrpSubmit": 1, "over_submit": "hold"}, "'reject' or 'wait'"),
    ],
)
def test_rules_that_make_no_sense_are_refused(given, words):
    with pytest.raises(forebay.ForebayError, match=words):
        Rule(**given)


def check_seed(seed):
    """One workload under rules, a preset and two random policies; with cancelled jobs, and limits around the policy."""
    made, machine = pooled.make(seed)
    made = pooled.with_cancels(site.with_accounts(made, seed), seed) if seed % 3 else site.with_accounts(made, seed)
    names = sorted(PRESETS)
    policies = [(names[seed % len(names)], PRESETS[names[seed % len(names)]])]
    for draw in range(2):
        policies.append((Backfill(**pooled.policy(10 * seed + draw, ALL)), pooled.policy(10 * seed + draw, math.inf)))
    for draw, (policy, params) in enumerate(policies):
        given = site.rules(3 * seed + draw, machine)
        limited = machine.model_copy(update={"limits": tuple(Rule(**rule) for rule in given)})
        slow = simulate(made, machine, params, f"alloc-only:kill={str(seed % 2 > 0).lower()}", rules=given)
        compare(slow, made, limited, policy)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_rules_equal_naive(chunk):
    for seed in range(40_000 + chunk * CHUNK, 40_000 + (chunk + 1) * CHUNK):
        check_seed(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1300, 1306))
def test_rules_equal_naive_small(seed):
    check_seed(seed)
