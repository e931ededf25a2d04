"""The tree of accounts from sacctmgr -P show assoc, and the accounts of the platform file that it becomes."""

import pytest

import forebay as fb
from forebay.errors import InputError

CONF = "ClusterName=brook\nPriorityType=priority/multifactor\nNodeName=n[1-4] CPUs=8\n"

PARENTS = """Cluster|Account|User|Partition|ParentName|Share
brook|root||||1
brook|root|root|||1
brook|theory|||physics|2
brook|theory|ann|||parent
brook|theory|bob|long||3
brook|physics|||root|4
brook|physics|cid.x|||1
brook|guests|||physics|parent
"""

TREE = """Cluster|Account|User|Partition|Share
brook|root|||1
brook| root|root||1
brook| physics|||4
brook|  physics|cid.x||1
brook|  theory|||2
brook|   theory|ann||parent
brook|   theory|bob|long|3
brook|  guests|||parent
"""

ACCOUNTS = {
    "root": {"users": {"root": 1}},
    "physics": {"shares": 4, "users": {"cid.x": 1}},
    "theory": {"parent": "physics", "shares": 2, "users": {"ann": "parent", "bob:long": 3}},
    "guests": {"parent": "physics", "shares": "parent"},
}


@pytest.mark.parametrize("table", [PARENTS, TREE, TREE.replace("\n", "|\n")], ids=["parents", "tree", "with -p"])
def test_the_tree_by_hand(told, table):
    made = told(CONF, assoc=table)
    assert made.accounts == ACCOUNTS
    assert not [note for note in made.notes if "account" in note]


def test_the_platform_file_has_it(told, tmp_path):
    (tmp_path / "site.toml").write_text(told(CONF, assoc=PARENTS).platform("it"))
    machine = fb.platform(tmp_path / "site.toml")
    described = {one.name: one.described() for one in machine.accounts}
    assert described["theory"] == {"name": "theory", **ACCOUNTS["theory"]}
    assert described["guests"] == {"name": "guests", "users": {}, **ACCOUNTS["guests"]}


def test_a_tree_that_is_not_told_is_not_flattened_without_a_word(told):
    table = "Account|User|Share\nroot||1\nphysics||4\ntheory||2\ntheory|ann|1\n"
    [note] = [note for note in told(CONF, assoc=table).notes if "table of associations" in note]
    assert note.startswith("the table of associations does not say which account is in which: all are in root here; ")
    assert "sacctmgr -P show assoc tree" in note


def test_accounts_that_have_no_row(told):
    table = "Account|User|Share\ntheory|ann|3\n"
    made = told(CONF, assoc=table)
    assert made.accounts == {"theory": {"shares": 1, "users": {"ann": 3}}}
    assert "accounts without a row of their own are taken to be in root, with 1 share: theory" in made.notes


def test_other_clusters_of_the_database_are_left_out(told):
    table = PARENTS + "creek|other|||root|9\n"
    made = told(CONF, assoc=table)
    assert made.accounts == ACCOUNTS
    assert "shares are those of cluster brook, not of creek" in made.notes


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("brook|x|||nowhere|1", r"assoc.txt:10: account 'x' is in 'nowhere', which has no row; print it with sacctmgr"),
        ("brook|x|||y|1\nbrook|y|||x|1", r"assoc.txt:10: account 'x' is inside itself"),
        ("brook|x|||root|many", r"assoc.txt:10: Share is 'many'; it must be a whole number"),
    ],
)
def test_a_tree_that_is_none(told, row, message):
    with pytest.raises(InputError, match=message):
        told(CONF, assoc=f"{PARENTS}{row}\n")
