"""A site's own rule over the Pareto set: by hand, against the rules that are built in, and what is refused."""

import re

import pytest

import forebay as fb
from cases import pooled
from cases.chunks import compiles
from forebay.errors import BadActionError, InputError, PolicyRaisedError
from forebay.policies import describe, load, own_file
from forebay.testing import check_policy

TB = 10**12
EXAMPLE = ((80, 20), (10, 85), (40, 5), (10, 0), (20, 0))
"""As in test_window: nodes and TB of the motivating example of Fan et al. (2019)."""

RULES = '''
def first(choices, view):
    return choices[0]

def most_buffer(choices, view):
    return max(choices, key=lambda choice: choice.use["burst_buffer"]).jobs

def trade_off(choices, view):
    """As the paper's."""
    best, most = choices[0], 0.0
    for choice in choices[1:]:
        gain = sum(choice.use.values()) - choice.use["nodes"] - sum(best_of.values())
        loss = choices[0].use["nodes"] - choice.use["nodes"]
        if gain > 2 * loss and gain > most + 1e-12:
            best, most = choice, gain
    return best

def nothing(choices, view):
    pass

def another(choices, view):
    return choices[0] if len(view.queue) == 1 else [int(view.queue[3])]

def together(choices, view):
    return [job for choice in choices for job in choice.jobs]

def none_at_all(choices, view):
    return []

def a_number(choices, view):
    return 3

def fails(choices, view):
    return choices[0].use["tape"]

NUMBER = 3
'''.replace("sum(best_of.values())", '(sum(choices[0].use.values()) - choices[0].use["nodes"])')


def example():
    jobs = [
        {"id": i, "submit": 0.0, "walltime": 100.0, "nodes": nodes, "burst_buffer": buffer * TB}
        for i, (nodes, buffer) in enumerate(EXAMPLE, 1)
    ]
    return pooled.workload(jobs)


def first(spec):
    """The jobs that start at once."""
    result = fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", spec)
    return {job for job, time in result.jobs.select("job_id", "starting_time").rows() if time == 0}


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "mine.py"
    path.write_text(RULES)
    return str(path)


@compiles
@pytest.mark.parametrize(
    ("rule", "jobs"),
    [
        ("nodes", {1, 5}),
        ("burst_buffer", {2, 3, 4, 5}),
        ("nodes+burst_buffer", {2, 3, 4, 5}),  # 1 + 0.2 against 0.8 + 0.9
        ("8*nodes+2*burst_buffer", {1, 5}),  # 8.4 against 8.2
        ("jobs", {2, 3, 4, 5}),
        ("-jobs", {1, 5}),
        ("burst_buffer*(nodes>=0.9)", {1, 5}),
        ("burst_buffer*(nodes>0.7)", {2, 3, 4, 5}),
        ("wait", {1, 5}),  # all came now: the first of equal choices
        ("2**-1 < nodes - 0.25 ** 0.5", {1, 5}),  # 0.5 < 0.5 is false for it, 0.5 < 0.3 for the other: the first again
    ],
)
def test_the_motivating_example_by_a_formula(rule, jobs):
    assert first(f"bbsched-exact:rule={rule}") == jobs


@compiles
def test_the_motivating_example_by_a_function(mine):
    assert first(f"bbsched-exact:rule={mine}:first") == {1, 5}
    assert first(f"bbsched-exact:rule={mine}:most_buffer") == {2, 3, 4, 5}
    assert first(f"bbsched:window=5,rule={mine}:trade_off") == {2, 3, 4, 5}


@compiles
def test_waits_count():
    """Job 1 holds 3 nodes and 4 TB until 10 s. Then job 2 has waited for 9 s, jobs 3 and 4 for 1 s each."""
    jobs = [(1, 0, 3, 4), (2, 1, 3, 0), (3, 9, 1, 2), (4, 9, 1, 2)]
    made = pooled.workload(
        [
            {"id": i, "submit": float(t), "walltime": 10.0, "nodes": nodes, "burst_buffer": buffer}
            for i, t, nodes, buffer in jobs
        ]
    )
    for rule, starts in (("wait", [0, 10, 20, 20]), ("jobs", [0, 20, 10, 10]), ("-wait", [0, 20, 10, 10])):
        result = fb.simulate(made, pooled.platform(3, 4), f"bbsched-exact:rule={rule}", job_model="alloc-only")
        assert result.jobs.sort("job_id")["starting_time"].to_list() == starts, rule


@compiles
@pytest.mark.parametrize("kinds", [False, True])
def test_the_rules_that_are_built_in(mine, kinds):
    """The same choices by a rule of one's own give the same run, bit by bit."""
    for seed in range(600, 602):
        workload, machine = pooled.make(seed, legs=False)
        if kinds:
            workload, machine = pooled.with_kinds(workload, machine, seed)
        for ours, theirs in (
            (f"rule={mine}:trade_off", "rule=trade-off"),
            ("+".join(load("bbsched")._objectives_on(machine.resources)), "rule=weights"),
        ):
            ours = ours if ours.startswith("rule") else f"rule={ours}"
            hashes = {
                fb.simulate(workload, machine, f"bbsched-exact:window=5,bound=4,{rule}", job_model="alloc-only").facts[
                    "log_sha256"
                ]
                for rule in (ours, theirs)
            }
            assert len(hashes) == 1, (seed, ours)


@compiles
@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        ("nothing", BadActionError, "mine.py:nothing', which returned nothing; return one of the choices"),
        ("another", BadActionError, "which returned job 4, in none of the choices"),
        ("together", BadActionError, "returned jobs 1, 2, 3, 4, 5 together, which is none of the choices"),
        ("none_at_all", BadActionError, "which returned no job at all; return one of those"),
        ("a_number", BadActionError, "which returned 3; return one of the choices"),
        ("fails", PolicyRaisedError, "KeyError"),
        ("othr", InputError, "defines no function 'othr'"),
        ("NUMBER", InputError, "defines no function 'NUMBER'"),
    ],
)
def test_what_no_rule_may_do(mine, function, error, said, monkeypatch):
    monkeypatch.chdir(mine.removesuffix("mine.py"))
    wide = "flat:nodes=100,burst_buffer=100TB"
    jobs = example()
    if function == "another":  # job 9 runs, so that job 4, of all nodes, can be in no choice
        rows = [(9, 0.0, 1), (1, 1.0, 60), (2, 1.0, 50), (3, 1.0, 39), (4, 1.0, 100)]
        jobs = pooled.workload([{"id": i, "submit": t, "walltime": 9.0, "nodes": n} for i, t, n in rows])
        wide = "flat:nodes=100"
    with pytest.raises(error) as raised:
        fb.simulate(jobs, wide, f"bbsched-exact:rule=mine.py:{function}")
    assert said in str(raised.value)


@pytest.mark.small
@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("tape", "rule names 'tape', which is no objective here"),
        ("tradeoff", "rule names 'tradeoff', which is no objective here"),
        ("nodes +", "which is no formula"),
        ("nodes if jobs else 1", "write numbers, names"),
        ("nodes.real", "write numbers, names"),
        ("max(nodes)", "write numbers, names"),
        ("__import__('os')", "write numbers, names"),
        ("1 < nodes < 2", "write numbers, names"),
        ("(" * 60 + "nodes" + "+1)" * 60, "write numbers, names"),
        ("gone.py:choose", "rule: gone.py: no such file"),
    ],
)
def test_what_is_no_rule(rule, said):
    with pytest.raises(InputError, match=re.escape(said)):
        first(f"bbsched:rule={rule}")


@compiles
@pytest.mark.parametrize("rule", ["nodes/(burst_buffer-burst_buffer)", "(0-nodes)**0.5", "9.0**999**nodes"])
def test_a_formula_that_is_no_number(rule):
    with pytest.raises(BadActionError, match="which is no number for job"):
        first(f"bbsched-exact:rule={rule}")


@pytest.mark.small
@pytest.mark.parametrize("method", ["packing", "in-order"])
def test_methods_without_a_pareto_set(method):
    with pytest.raises(InputError, match="makes no Pareto set"):
        load(f"bbsched:method={method},rule=nodes")


@pytest.mark.small
def test_a_file_of_a_rule_is_a_file_of_the_spec(mine):
    assert own_file(f"bbsched:window=5,rule={mine}:first") == mine
    assert own_file(f"bbsched:rule={mine}:first,window=5+limits:user_jobs=4") == mine
    assert own_file("bbsched:rule=gone.py:first") == ""
    assert describe("bbsched")["parameters"]["rule"] == "trade-off"


@compiles
def test_a_policy_with_a_rule_keeps_the_contract(mine):
    report = check_policy(f"bbsched-exact:window=4,rule={mine}:first", n_cases=3)
    assert report.passed, report


@compiles
def test_it_says_where_it_gave_up():
    result = fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", "bbsched-exact:limit=0,rule=nodes")
    assert any("left to the genetic solver" in note for note in result.facts["notes"])
