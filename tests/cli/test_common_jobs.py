"""Means of a comparison are over the jobs that ran under every policy; others are counted, with the limit's name."""

import json

import polars as pl
import pytest

from forebay import load

MACHINE = """
name = "limited"
nodes = 2

[[limits]]
MaxSubmitPerUser = 3

[[limits]]
user = 8
GrpSubmit = 2
"""


@pytest.fixture
def limited(tmp_path):
    """Two nodes; behind the wide job of user 8, fcfs lets all others wait."""
    path = tmp_path / "jobs.swf"
    rows = [
        # submit, run, nodes, user
        (0, 1000, 1, 7), (1, 1000, 2, 8), (2, 100, 1, 7), (3, 100, 1, 8), (4, 100, 1, 7), (130, 100, 1, 7),
        (140, 100, 1, 8), (250, 100, 1, 7), (260, 100, 1, 7), (3000, 10, 1, 7), (3001, 10, 1, 8),
    ]  # fmt: skip
    lines = [
        f"{job} {submit} -1 {run} {nodes} -1 -1 {nodes} {run} -1 1 {user} 1 1 1 -1 -1 -1"
        for job, (submit, run, nodes, user) in enumerate(rows, 1)
    ]
    path.write_text("\n".join(["; MaxNodes: 2", *lines]) + "\n")
    (tmp_path / "limited.toml").write_text(MACHINE)
    return path


def slow_refusals(rows, finish):
    """Rejected jobs, by hand: count what each user has waiting and running when a job comes."""
    open_jobs, refused = {7: [], 8: []}, {}
    for job, (submit, user) in rows.items():
        for mine in open_jobs.values():
            mine[:] = [one for one in mine if finish.get(one, 1e9) > submit]
        if user == 8 and len(open_jobs[8]) >= 2:
            refused[job] = "GrpSubmit=2 of user 8"
        elif len(open_jobs[user]) >= 3:
            refused[job] = f"MaxSubmitPerUser=3 of user {user}"
        else:
            open_jobs[user].append(job)
    return refused


def test_limits_are_named_and_means_are_over_the_same_jobs(forebay, limited, tmp_path):
    out = tmp_path / "out"
    options = ("--platform", tmp_path / "limited.toml", "--policies", "fcfs,fcfs-easy", "--no-plots", "-o", out)
    code, text, _ = forebay("compare", limited, *map(str, options))
    assert code == 0
    runs = {policy: load(out / policy).jobs for policy in ("fcfs", "fcfs-easy")}
    told = pl.read_csv(out / "not-run.csv").rows()
    ran = {policy: set(jobs.filter(pl.col("starting_time").is_not_null())["job_id"]) for policy, jobs in runs.items()}
    assert ran["fcfs"] < ran["fcfs-easy"]  # backfilling lets short jobs go, and so others come
    expected = []
    for policy, jobs in runs.items():
        rows = {job: (submit, user) for job, submit, user in jobs.select("job_id", "submission_time", "user").rows()}
        refused = slow_refusals(rows, dict(jobs.drop_nulls("finish_time").select("job_id", "finish_time").rows()))
        assert set(refused) == set(rows) - ran[policy]
        reasons = list(refused.values())
        expected += [(policy, reason, reasons.count(reason)) for reason in dict.fromkeys(reasons)]
    assert sorted(told) == sorted(expected)
    assert any("MaxSubmitPerUser=3 of user 7" in row for row in told)
    for policy, reason, n in told:
        assert f"{policy}: {reason}: {n} job" in text
    common = sorted(set.intersection(*ran.values()))
    summaries = {row["policy"]: row for row in pl.read_csv(out / "compare.csv").to_dicts()}
    shown = {row["policy"]: row for row in pl.read_csv(out / "ranking.csv").to_dicts()}
    for policy, jobs in runs.items():
        wait = jobs.filter(pl.col("job_id").is_in(common))["waiting_time"].mean()
        assert summaries[policy]["mean_wait"] == shown[policy]["mean_wait"] == pytest.approx(wait)
    verdict = pl.read_csv(out / "verdicts.csv").row(by_predicate=pl.col("metric") == "mean_wait", named=True)
    assert verdict["value"] == pytest.approx(shown[verdict["policy"]]["mean_wait"])
    assert "means over the jobs that ran under every policy" in text
    assert "rejected when submitted" not in text  # said once, by the table
    alone = forebay("run", limited, "--platform", str(tmp_path / "limited.toml"), "--policy", "fcfs").out
    assert "MaxSubmitPerUser=3 of user 7: 3 jobs rejected when submitted" in alone
    page = (out / "report.html").read_text()
    assert "MaxSubmitPerUser=3 of user 7" in page
    answer = json.loads(forebay("compare", limited, *map(str, options), "--format", "json").out)
    assert [tuple(row.values()) for row in answer["not_run"]] == told
    assert (
        not set(answer["groups"][0])
        - {"by", "name", "policy", "jobs", "node_hours", "mean_wait", "p95_wait", "wait_hours", "change", "verdict"}
        - {"mean_bounded_slowdown_10min", "gained_hours", "lost_hours", "net_hours", "low_hours", "high_hours"}
    )
    assert sum(row["jobs"] for row in answer["groups"] if row["by"] == "user" and row["policy"] == "fcfs") == len(
        common
    )


def test_where_all_jobs_run_everywhere_nothing_is_said(forebay, tmp_path):
    out = tmp_path / "out"
    text = forebay("compare", "table1", "--policies", "fcfs,fcfs-bb", "--no-plots", "-o", str(out)).out
    assert "not run" not in text
    assert not (out / "not-run.csv").exists()


OWN = """
import forebay as fb

class Never(fb.Policy):
    def decide(self, view, act):
        for job in view.queue.tolist():
            act.reject(job)
"""


def test_a_policy_that_runs_nothing_takes_no_job_from_others(forebay, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    spec, out = f"{tmp_path / 'own.py'}:Never", tmp_path / "out"
    text = forebay("compare", "table1", "--policies", f"fcfs-bb,{spec}", "--no-plots", "-o", str(out)).out
    shown = {row["policy"]: row for row in pl.read_csv(out / "ranking.csv").to_dicts()}
    assert shown["fcfs-bb"]["mean_wait"] == 142.5
    assert shown[spec]["mean_wait"] is None
    assert "rejected by the policy: 8 jobs" in text
