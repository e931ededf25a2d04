"""The policy that a platform names: read, checked where policies are known, and used where no other is named."""

import json

import pytest

import forebay as fb
from forebay import platforms
from forebay._run.site_policy import site_policy
from forebay.errors import InputError

pytestmark = pytest.mark.small

MACHINE = 'nodes = 4\n[tiers.burst_buffer]\nkind = "shared_bb"\ncapacity = "10 TB"\n'
OWN = "class Mine:\n    def decide(self, view, act):\n        pass\n"


@pytest.fixture
def site(tmp_path):
    """A machine of table1's size with this policy, in a file."""

    def write(policy):
        path = tmp_path / "site.toml"
        path.write_text((f"policy = {json.dumps(policy)}\n" if policy is not None else "") + MACHINE)
        return path

    return write


def test_a_file_brings_one(site):
    machine = platforms.load(site("sjf-bb:depth=2"))
    assert (machine.policy, site_policy(machine)) == ("sjf-bb:depth=2", "sjf-bb:depth=2")
    assert machine.describe()["policy"] == "sjf-bb:depth=2"
    assert "sjf-bb:depth=2" in machine._repr_html_()


def test_most_bring_none(site):
    for machine in (platforms.load(site(None)), fb.platform("table1")):
        assert machine.policy is site_policy(machine) is None
        assert "policy" not in machine.describe()


def test_a_name_is_spelled_as_policies_are(site):
    assert site_policy(platforms.load(site("SJF_BB:depth=2"))) == "sjf-bb:depth=2"


def test_a_file_of_the_site_lies_beside_the_machine(site, tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    assert site_policy(platforms.load(site("mine.py:Mine"))) == f"{tmp_path / 'mine.py'}:Mine"


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("slrum", "policy: unknown policy 'slrum': did you mean 'slurm'"),
        ("fcfs-bb:deph=2", "policy: policy 'fcfs-bb' has no parameter 'deph': did you mean 'depth'?"),
        ("fcfs-bb:depth=x", "policy: policy 'fcfs-bb': depth='x' is not a whole number"),
        ("fcfs-bb:depth", "policy: 'fcfs-bb:depth': 'depth' is not key=value"),
        ("none.py:Mine", "none.py: no such file"),
        ("mine.py", "is a file; name the class in it too"),
        ("", "policy: is empty; write a policy such as"),
        (5, "policy: 5 must be text in quotes"),
    ],
)
def test_a_wrong_one_is_told_with_file_and_key(site, policy, says):
    path = site(policy)
    with pytest.raises(InputError) as caught:
        fb.simulate("table1", path)
    text = str(caught.value)
    assert text.startswith(f"{path}: policy: ")
    assert says in text
    assert "\n" not in text


def test_a_machine_made_in_python_is_told_by_its_name():
    with pytest.raises(InputError, match=r"^platform mine: policy: unknown policy 'nix'"):
        site_policy(fb.Platform(name="mine", nodes=4, policy="nix"))


def test_runs_go_by_it_where_nobody_names_another(site):
    named = fb.simulate("table1", site("fcfs-easy"), "fcfs")
    assert named.facts["policy"] == "fcfs"
    own = fb.simulate("table1", site("fcfs-easy"))
    assert (own.facts["policy"], own.facts["spec"]) == ("site", "fcfs-easy")
    assert own.jobs["starting_time"].equals(fb.simulate("table1", policy="fcfs-easy").jobs["starting_time"])
    assert fb.simulate("table1", site(None)).facts["policy"] == "fcfs-bb"


def test_a_record_is_replayed_under_it(site):
    columns = {"id": [1, 2], "submit": [0, 60], "walltime": [600, 600], "run_time": [300, 600], "nodes": [4, 2]}
    jobs = fb.Workload("mine", fb.workload.job_table(columns | {"recorded_start": [0.0, 360.0]}))
    assert fb.fidelity(jobs, site("sjf-bb")).result.facts["policy"] == "site"
    assert fb.fidelity(jobs, site(None)).result.facts["policy"] == "fcfs-easy"
