"""Verdicts of a comparison, from outside: files, exit codes, and what is not run twice."""

import json
from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from forebay.cli._render.number_text import change
from forebay.errors import InputError
from forebay.experiments.comparison import replicas
from forebay.experiments.comparison.selection import wanted
from forebay.experiments.references import usual_reference
from forebay.experiments.verdicts import Verdict
from forebay.policies import COMPARED, FAMILIES, describe, names

COLUMNS = ["policy", "reference", "metric", "value", "reference_value", "change", "low", "high", "verdict", "n", "over"]
FLAT = ("--platform", "flat:nodes=16", "--no-plots")


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """Two hundred jobs that keep 16 nodes busy for a day and a half."""
    import numpy as np

    rng = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("jobs") / "busy.swf"
    lines = []
    for job, submit in enumerate(np.sort(rng.uniform(0, 130_000, 200)).astype(int), 1):
        nodes, run = int(rng.choice([1, 2, 4, 8, 12])), int(rng.exponential(2400)) + 60
        lines.append(f"{job} {submit} -1 {run} {nodes} -1 -1 {nodes} {2 * run} -1 1 1 1 1 1 -1 -1 -1")
    path.write_text("\n".join(["; MaxNodes: 16", *lines]) + "\n")
    return path


@pytest.fixture
def compare(forebay, busy, tmp_path):
    def command(*more, workload=busy):
        return forebay("compare", workload, *FLAT, "-o", tmp_path / "out", *map(str, more))

    return command


def _verdicts(folder, policy=None, metric="mean_wait"):
    table = pl.read_csv(folder / "verdicts.csv")
    assert table.columns == COLUMNS
    return (
        table
        if policy is None
        else table.row(by_predicate=(pl.col("policy") == policy) & (pl.col("metric") == metric), named=True)
    )


def test_without_replicas_values_are_those_of_the_runs(compare, tmp_path):
    out = compare("--policies", "fcfs,fcfs-easy,sjf-easy", "--replicas", 0).out
    runs = {row["policy"]: row for row in pl.read_csv(tmp_path / "out" / "compare.csv").to_dicts()}
    table = _verdicts(tmp_path / "out")
    assert sorted(set(table["policy"])) == ["fcfs", "sjf-easy"]
    assert len(table) == 2 * 4
    assert set(table["metric"]) == {"mean_wait", "p95_wait", "mean_turnaround_time", "mean_bounded_slowdown_10min"}
    for row in table.to_dicts():
        assert row["reference"] == "fcfs-easy"
        assert row["value"] == pytest.approx(runs[row["policy"]][row["metric"]])
        assert row["reference_value"] == pytest.approx(runs["fcfs-easy"][row["metric"]])
        assert row["change"] == pytest.approx(row["value"] / row["reference_value"] - 1)
        assert row["low"] <= row["change"] <= row["high"]
        assert row["over"] == "blocks"
    assert _verdicts(tmp_path / "out", "fcfs")["verdict"] == "worse"
    line = next(line for line in out.splitlines() if line.startswith("fcfs "))
    assert line.split()[1:2] == ["worse"]
    assert "blocks of jobs" in out
    assert "±" not in out


def test_replicas_are_kept_and_counted(compare, tmp_path):
    answer = json.loads(compare("--policies", "fcfs,fcfs-easy", "--replicas", 3, "--format", "json").out)
    row = _verdicts(tmp_path / "out", "fcfs")
    assert (row["n"], row["over"]) == (4, "replicas")
    assert _verdicts(tmp_path / "out", "fcfs", "utilisation_nodes")["verdict"] in ("worse", "undecided")
    kept = pl.read_parquet(tmp_path / "out" / "fcfs" / "replicas.parquet")
    assert kept["replica"].unique(maintain_order=True).to_list() == [1, 2, 3]
    assert len(kept) == 3 * 200
    means = kept.group_by("replica", maintain_order=True).agg(pl.col("wait").mean())["wait"].to_list()
    told = json.loads((tmp_path / "out" / "fcfs" / "replicas.json").read_text())["replicas"]
    assert means == pytest.approx([one["summary"]["mean_wait"] for one in told])
    run = next(one for one in answer["policies"] if one["policy"] == "fcfs")["summary"]["mean_wait"]
    assert row["value"] == pytest.approx((run + sum(means)) / 4)
    assert len({run, *means}) == 4
    assert answer["reference"] == "fcfs-easy"
    assert answer["verdicts"] == _verdicts(tmp_path / "out").to_dicts()


def test_another_reference_runs_nothing_again(compare, tmp_path, monkeypatch):
    compare("--policies", "fcfs,fcfs-easy,filler", "--replicas", 3)
    before = _verdicts(tmp_path / "out", "filler")
    monkeypatch.setattr(replicas, "_perform", lambda *_: pytest.fail("a replica is run again"))
    err = compare("--policies", "fcfs,fcfs-easy,filler", "--replicas", 3, "--reference", "filler").err
    assert "3 of 3 policies there already" in err
    after = _verdicts(tmp_path / "out", "fcfs-easy")
    assert (1 + before["change"]) * (1 + after["change"]) == pytest.approx(1)
    assert (1 + before["low"]) * (1 + after["high"]) == pytest.approx(1, abs=0.2)  # blocks go by the reference's waits


def test_a_reference_is_run_too(compare, tmp_path):
    compare("--policies", "fcfs", "--reference", "SJF_EASY", "--replicas", 0)
    assert _verdicts(tmp_path / "out", "fcfs")["reference"] == "sjf-easy"
    assert (tmp_path / "out" / "sjf-easy" / "run.json").is_file()


def test_one_policy_has_nobody_to_be_compared_with(compare, tmp_path):
    out = compare("--policies", "fcfs").out
    assert "verdict" not in out
    assert not (tmp_path / "out" / "verdicts.csv").exists()


def test_eight_jobs_tell_nothing_of_others(compare, tmp_path):
    out = compare("--policies", "fcfs,fcfs-easy", "--platform", "table1", workload="table1").out
    row = _verdicts(tmp_path / "out", "fcfs")
    assert (row["low"], row["high"], row["verdict"]) == (None, None, "undecided")
    assert "too few jobs" in out


def test_the_same_schedule_is_the_same(compare, tmp_path):
    compare("--policies", "fcfs-easy,fcfs-bb", "--replicas", 0)
    row = _verdicts(tmp_path / "out", "fcfs-bb")
    assert (row["verdict"], row["change"], row["low"], row["high"]) == ("same", 0, 0, 0)


def test_stopped_among_replicas_it_goes_on_from_there(compare, tmp_path, monkeypatch):
    arguments = ("--policies", "fcfs,fcfs-easy", "--replicas", 3)
    done, perform = [], replicas._perform

    def stopped(setting, entrants, task, tell):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task)
        return perform(setting, entrants, task, tell)

    monkeypatch.setattr(replicas, "_perform", stopped)
    assert compare(*arguments).code == 130
    assert not (tmp_path / "out" / "compare.csv").exists()
    again = []
    monkeypatch.setattr(replicas, "_perform", lambda *given: again.append(given[2]) or perform(*given))
    assert compare(*arguments).code == 0
    assert len(again) == 4
    assert not set(again) & set(done)
    found = _verdicts(tmp_path / "out")
    monkeypatch.setattr(replicas, "_perform", perform)
    compare(*arguments, "-o", tmp_path / "whole")
    assert _verdicts(tmp_path / "whole").equals(found)


def test_a_condition_that_holds_is_exit_code_1(compare, tmp_path):
    run = ("--policies", "fcfs,fcfs-easy", "--replicas", 0)
    code, out, err = compare(*run, "--fail-if", "mean_wait > +5%", "--fail-if", "mean_wait > 1000d")
    assert code == 1
    assert "written" in out
    assert "a condition of --fail-if holds\n  mean_wait > +5%: fcfs has +" in err
    assert "1000d" not in err
    assert (tmp_path / "out" / "verdicts.csv").is_file()
    assert compare(*run, "--fail-if", "mean_wait > +100000%", "--fail-if", "max_wait > +1%").code == 0
    assert compare(*run, "--fail-if", "mean_wait > 1 s").err.count("mean_wait > 1 s: ") == 2
    code, out, err = compare(*run, "--fail-if", "wait > 5")
    assert (code, out) == (2, "")
    assert "unknown metric" in err


def test_families_and_names_together():
    given, implied = wanted("plan,fcfs,plan-best:alpha=2")
    assert given == ["fcfs", "plan-best:alpha=2"]
    assert "plan-best" in implied
    assert all(name.startswith("plan") for name in implied)
    assert wanted("plan-best,plan")[0] == ["plan-best"]
    assert "plan-best" not in wanted("plan-best,plan")[1]
    assert wanted(None) == ([], list(COMPARED))
    every = [name for family in FAMILIES for name in wanted(family)[1]]
    assert sorted(every) == sorted(names())
    assert describe("plan-predict")["family"] == "plan"
    assert describe("sas-plan")["family"] == "tiers"
    assert describe("conservative-bb")["family"] == "queue"


def test_which_reference(compare):
    """One of the policies, by its spec or its label; or one more."""
    named = ("--policies", "easy=fcfs-easy,fcfs", "--replicas", 0, "--no-plots", "--reference")
    for reference, known in (("easy", "easy"), ("FCFS", "fcfs"), ("fcfs_easy", "easy"), ("a=filler", "a")):
        code, out, _ = compare(*named, reference, workload="table1")
        assert code == 0
        assert f"reference  {known};" in out


def test_a_family_of_no_use_here(compare):
    code, _, err = compare("--policies", "tiers", workload="table1")
    assert code == 2
    assert "of use" in err


def test_the_reference_that_nobody_asked_for():
    """The site's own; else EASY, of burst buffer too where jobs ask for it; else the first of the policies."""
    both, machine = ["fcfs", "fcfs-easy", "fcfs-bb"], fb.platform("table1")
    assert usual_reference(both, fb.read("table1"), machine) == "fcfs-bb"
    nodes_alone = replace(fb.read("table1"), jobs=fb.read("table1").jobs.with_columns(burst_buffer=pl.lit(0)))
    assert usual_reference(both, nodes_alone, machine) == "fcfs-easy"
    assert usual_reference(["fcfs", "fcfs-easy"], fb.read("table1"), machine) == "fcfs-easy"
    assert usual_reference(["filler", "fcfs"], fb.read("table1"), machine) == "filler"
    assert usual_reference(both, fb.read("table1"), machine, "fcfs") == "fcfs"


def test_the_policy_of_the_site_joins_as_the_reference(forebay, busy, tmp_path):
    site = tmp_path / "site.toml"
    site.write_text('policy = "sjf-easy"\nnodes = 16\n')
    words = ("compare", busy, "--platform", site, "--no-plots", "--replicas", 0, "-o", tmp_path / "out")
    assert "reference  site;" in forebay(*words, "--policies", "fcfs,fcfs-easy").out
    table = _verdicts(tmp_path / "out")
    assert set(table["reference"]) == {"site"}
    assert sorted(set(table["policy"])) == ["fcfs", "fcfs-easy"]
    assert "reference  fcfs;" in forebay(*words, "--policies", "fcfs-easy", "--reference", "fcfs").out
    assert sorted(set(pl.read_csv(tmp_path / "out" / "compare.csv")["policy"])) == ["fcfs", "fcfs-easy"]


@pytest.mark.parametrize("command", ["compare", "run", "platforms"])
def test_a_wrong_policy_of_the_site_is_told_before_anything_is_run(forebay, busy, tmp_path, command):
    """Whoever names another policy is told too: the file is wrong."""
    site = tmp_path / "site.toml"
    site.write_text('policy = "sjf-eays"\nnodes = 16\n')
    named = {"compare": ("--reference", "fcfs"), "run": ("--policy", "fcfs"), "platforms": ()}[command]
    done = forebay(command, site) if command == "platforms" else forebay(command, busy, "--platform", site, *named)
    assert (done.code, done.out) == (2, "")
    assert f"{site}: policy: unknown policy 'sjf-eays': did you mean 'sjf-easy'" in done.err.replace("\n", " ")


def test_as_many_replicas_for_all_as_time_allows():
    def documents(n_jobs, **seconds):
        return [{"policy": name.replace("_", "-"), "seconds": took, "jobs": n_jobs} for name, took in seconds.items()]

    three = documents(3000, fcfs=0.1, fcfs_easy=0.2, plan_best=0.3)
    assert replicas.planned(three, "fcfs", None) == 10
    assert replicas.planned(three, "fcfs", 2) == 2
    assert replicas.planned(three, "other", None) == 0  # there is no reference
    assert replicas.planned(documents(3000, fcfs=0.1, mine=20), "fcfs", None) == 5  # 100.5 s of a core
    assert replicas.planned(documents(3000, fcfs=0.1, mine=39), "fcfs", None) == 3
    slow = documents(3000, fcfs=0.1, mine=60)
    assert replicas.planned(slow, "fcfs", None) == 0
    assert replicas.remark(slow, 0, None) == [
        "no replicas: 3 of each policy would take 3 min of a core; --replicas 3 has them"
    ]
    assert replicas.remark(slow, 0, 0) == replicas.remark(three, 10, None) == []
    assert replicas.planned(documents(28_000, fcfs=0.1, fcfs_easy=0.1), "fcfs", None) == 3
    assert replicas.planned(documents(280_000, fcfs=0.1, fcfs_easy=0.1), "fcfs", None) == 0
    assert replicas.planned(documents(8, fcfs=0.1, fcfs_easy=0.1), "fcfs", None) == 0
    assert replicas.planned(documents(3000, fcfs=0.1), "fcfs", None) == 0


OWN = """
import forebay as fb

class InOrder(fb.Policy):
    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)
"""


def test_policies_in_python_and_plans_rest_on_the_same_runs(compare, tmp_path):
    """One estimator for all rows, and the change compares the numbers shown."""
    (tmp_path / "own.py").write_text(OWN)
    specs = f"fcfs-easy,plan-best,{tmp_path / 'own.py'}:InOrder"
    compare("--policies", specs, "--replicas", 3)
    table = _verdicts(tmp_path / "out")
    assert set(table["n"]) == {4}
    assert set(table["over"]) == {"replicas"}
    shown = {row["policy"]: row for row in pl.read_csv(tmp_path / "out" / "ranking.csv").to_dicts()}
    assert {row["runs"] for row in shown.values()} == {4}
    for row in table.to_dicts():
        mine, theirs = shown[row["policy"]][row["metric"]], shown["fcfs-easy"][row["metric"]]
        assert row["change"] == pytest.approx(mine / theirs - 1)


def test_a_bound_next_to_0_has_the_digits_that_decide():
    def told(low, high, word):
        return change(Verdict("a", "b", "mean_wait", 85, 100, -0.15, low, high, word, 25, "blocks"))

    assert told(-0.27, -0.000084, "better") == "-15 % (-27 to -0.008)"
    assert told(-0.27, 0.000084, "undecided") == "-15 % (-27 to 0)"
    assert told(-0.27, -0.00999, "better") == "-15 % (-27 to -1.0)"
    assert told(0.0000999, 0.4, "worse") == "-15 % (+0.009 to +40)"


def test_bad_words(compare):
    with pytest.raises(InputError, match="empty policy"):
        wanted("plan,,fcfs")
    assert compare("--policies", "fcfs", "--reference", "fcsf").code == 2
    assert compare("--policies", "fcfs", "--replicas", "-1").code == 2
