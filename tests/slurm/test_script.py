"""Scripts and dumps of sacctmgr: what they leave behind is what `show` would print afterwards."""

import os
from pathlib import Path

import pytest

from forebay.errors import InputError
from forebay.slurm.description import describe

pytestmark = pytest.mark.small

CONF = "ClusterName=brook\nAccountingStorageEnforce=limits\nPriorityType=priority/multifactor\nNodeName=n[1-4] CPUs=8\n"

SCRIPT = """# of one cluster
add cluster brook
sacctmgr -i add account name=physics fairshare=4 Description="all of it"
add account guests parent=physics Fairshare=parent
create account Name=theory,gone Parent=physics fairshare=1
modify account where name=theory set fairshare=2
remove account where name=gone
add user name=ann account=theory Fairshare=parent
add user name=bob DefaultAccount=theory partition=long Fairshare=1 MaxJobs=9
Modify User Name=bob Set Fairshare=3 MaxJobs=2
add user cid account=physics
add qos name=normal,long Priority=10 MaxSubmitJobsPerUser=50
modify qos where name=long set GrpTRES=node=4 flags=DenyOnLimit
remove qos where name=normal
list associations format=Account,User tree
"""

DUMP = """# To edit this file start with a cluster line for the new cluster
Cluster - 'brook':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='all: of it':Organization='physics':Fairshare=4
Parent - 'physics'
Account - 'theory':Description='theory':Fairshare=2
Account - 'guests':Fairshare=parent
User - 'cid':DefaultAccount='physics':Fairshare=1
Parent - 'theory'
User - 'ann':DefaultAccount='theory':Fairshare=parent
User - 'bob':DefaultAccount='theory':Partition='long':Fairshare=3:MaxJobs=2
"""

ACCOUNTS = {
    "physics": {"shares": 4, "users": {"cid": 1}},
    "theory": {"parent": "physics", "shares": 2, "users": {"ann": "parent", "bob:long": 3}},
    "guests": {"parent": "physics", "shares": "parent"},
}
BOB = {"user": "bob", "account": "theory", "partition": "long", "MaxJobsPerUser": 2}


def test_a_script_leaves_behind_what_its_lines_say_in_order(told):
    made = told(CONF, script=SCRIPT)
    assert made.accounts == ACCOUNTS
    qos = {"qos": "long", "GrpTRES": "node=4", "MaxSubmitPerUser": 50, "over_submit": "wait"}
    assert list(made.limits) == [qos, BOB]
    assert not any("which account is in which" in note for note in made.notes)


def test_a_dump_has_the_same_tree(told):
    made = told(CONF, dump=DUMP)
    assert made.accounts == {"root": {"users": {"root": 1}}} | ACCOUNTS
    assert list(made.limits) == [BOB]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("drop account name=x", "script.txt:2: 'drop account name=x' is no command of sacctmgr"),
        ("add account fairshare=1", "script.txt:2: the account has no name"),
        ("add user name=ann fairshare=1", "script.txt:2: the user 'ann' has no account"),
        ("modify account where name=x", "script.txt:2: sets nothing"),
        ("add account name='x", "script.txt:2: a quote is open"),
        ("modify account where name=x set fairshare", "script.txt:2: 'fairshare' is not key=value"),
        ("add account name=x fairshare=many", "script.txt:2: .*many"),
    ],
)
def test_lines_that_cannot_be_are_refused(told, line, says):
    with pytest.raises(InputError, match=says):
        told(CONF, script=f"add account name=root\n{line}\n")


@pytest.mark.skipif("FOREBAY_DATA" not in os.environ, reason="needs FOREBAY_DATA, the folder with a site's files")
def test_a_real_site_is_read_whole():
    site = Path(os.environ["FOREBAY_DATA"]) / "ub"
    made = describe([site / "slurm.conf", site / "sacctmgr.script"])
    assert len(made.accounts) == 62
    assert sum(len(one.get("users", {})) for one in made.accounts.values()) == 96
    assert {"user": "admin", "account": "account0", "MaxSubmitPerUser": 1000, "over_submit": "wait"} in made.limits
