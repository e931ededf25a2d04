"""Labels of policies, and the policy of the site with other values."""

import pytest

import forebay as fb
from forebay._run import labels
from forebay.errors import InputError

pytestmark = pytest.mark.small

OWN = "slurm:bf_interval=60,bf_window=1440,qos=high=100;low=1"


@pytest.mark.parametrize(
    ("text", "label", "spec"),
    [
        ("FCFS_BB:depth=3", "fcfs-bb:depth=3", "fcfs-bb:depth=3"),
        ("wide=fcfs_bb:depth=3", "wide", "fcfs-bb:depth=3"),
        (" two words = fcfs", "two words", "fcfs"),
        ("fcfs+limits:user_jobs=4", "fcfs+limits:user_jobs=4", "fcfs+limits:user_jobs=4"),
        ("site", "site", OWN),
        ("old=site", "old", OWN),
        ("site:bf_window=720", "site, bf_window=720", OWN.replace("1440", "720")),
        ("site:bf_continue=true,bf_window=9", "site, bf_continue=true, bf_window=9",
         OWN.replace("1440", "9") + ",bf_continue=true"),
        ("site+limits:user_jobs=4", "site, limits:user_jobs=4", OWN + "+limits:user_jobs=4"),
    ],
)  # fmt: skip
def test_what_a_text_calls(text, label, spec):
    assert labels.called(text, OWN, "mine") == (label, spec)
    fb.policies.load(spec)


def test_limits_and_files_of_the_site_stay(tmp_path):
    assert labels.changed("fcfs-bb:depth=2+limits:user_jobs=4", "site:depth=3") == "fcfs-bb:depth=3+limits:user_jobs=4"
    file = tmp_path / "a=b.py"
    file.write_text("class Mine:\n    x: int = 1\n    def decide(self, view, act): pass\n")
    assert labels.changed(f"{file}:Mine", "site:x=2") == f"{file}:Mine:x=2"
    assert labels.apart(f"{file}:Mine") == ("", f"{file}:Mine")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("=fcfs", "no label before the first ="),
        ("easy=", "no policy after the first ="),
        ("a,b=fcfs", "without commas"),
        ("a\nb=fcfs", "a label is made of"),
        ("x" * 5000 + "=fcfs", "its label"),
        ("site", "the platform mine brings no policy; write one into its file"),
        ("site:bf_window=3", "brings no policy"),
    ],
)
def test_labels_that_cannot_be(text, says):
    with pytest.raises(InputError, match=says) as caught:
        labels.called(text, None, "mine")
    assert "\n" not in str(caught.value)


def test_a_run_has_its_label_and_its_spec():
    machine = fb.platform("table1").model_copy(update={"policy": "sjf-bb:depth=2"})
    for given, policy, spec in (
        (None, "site", "sjf-bb:depth=2"),
        ("site:depth=3", "site, depth=3", "sjf-bb:depth=3"),
        ("wide=fcfs-bb:depth=3", "wide", "fcfs-bb:depth=3"),
        ("fcfs", "fcfs", None),
    ):
        facts = fb.simulate("table1", machine, given).facts
        assert (facts["policy"], facts.get("spec")) == (policy, spec)
    with pytest.raises(InputError, match="no parameter 'dept': did you mean 'depth'"):
        fb.simulate("table1", machine, "site:dept=3")


def test_comparisons_take_labels_in_python(tmp_path):
    machine = fb.platform("table1").model_copy(update={"policy": "sjf-bb:depth=2"})
    found = fb.compare("table1", ["wide=fcfs-bb:depth=3", "site:depth=4"], machine, replicas=0, output=tmp_path)
    assert found.reference == "site"
    assert set(found.table["policy"]) == {"wide", "site, depth=4", "site"}
    assert {one["policy"]: one["spec"] for one in found.document()["policies"]}["site, depth=4"] == "sjf-bb:depth=4"
    assert (tmp_path / "site,_depth=4" / "run.json").is_file()
    with pytest.raises(InputError, match="two policies are called 'a'"):
        fb.compare("table1", ["a=fcfs", "a=filler"], machine, replicas=0)
