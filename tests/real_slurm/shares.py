"""What `sshare` of a real Slurm says of a tree of accounts, three levels deep, and the same tree as sacctmgr prints it.

`python tests/real_slurm/shares.py SETTING` records one again, in four minutes; it needs a database and the rights to
submit in other users' names.

The tree has special cases: shares of 0 and of the parent, for users and for accounts; users beside accounts; accounts
without usage; two accounts of level fair share 0, whose users show whether tied accounts are merged.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

ACCOUNTS = (  # name, parent, shares
    *(("a", "root", "3"), ("b", "root", "1"), ("c", "root", "1"), ("d", "root", "1"), ("e", "root", "2")),
    *(("f", "root", "0"), ("g", "root", "0")),
    *(("a1", "a", "2"), ("a2", "a", "1"), ("a3", "a", "1"), ("b1", "b", "parent"), ("b2", "b", "1")),
    *(("c1", "c", "1"), ("c2", "c", "1"), ("d1", "d", "1"), ("e1", "e", "1"), ("e2", "e", "1")),
)
USERS = (  # name, account, shares
    *(("daemon", "a1", "1"), ("games", "a1", "2"), ("mail", "a2", "1"), ("news", "a2", "parent"), ("bin", "a", "1")),
    *(("sys", "a3", "1"), ("man", "b1", "1"), ("lp", "b1", "3"), ("uucp", "b2", "1"), ("proxy", "b2", "1")),
    *(("sync", "c1", "1"), ("backup", "c1", "1"), ("list", "c2", "1"), ("irc", "d1", "1"), ("bin", "d1", "1")),
    *(("www-data", "e1", "1"), ("daemon", "e1", "1"), ("games", "e2", "1"), ("mail", "e2", "1")),
    *(("sys", "f", "1"), ("lp", "f", "1"), ("bin", "g", "1"), ("man", "g", "1")),
)
USED = (  # user, account, nodes
    *(("sys", "f", 1), ("lp", "f", 4), ("bin", "g", 2), ("man", "g", 3), ("daemon", "a1", 1), ("games", "a1", 1)),
    *(("mail", "a2", 1), ("news", "a2", 1), ("man", "b1", 1), ("lp", "b1", 1), ("uucp", "b2", 1)),
    *(("daemon", "e1", 2), ("games", "e2", 1)),
)
NODES = sum(nodes for *_, nodes in USED)
SETTINGS = {"fair_tree": (), "no_fair_tree": ("PriorityFlags=NO_FAIR_TREE",)}
COMMON = (
    "PriorityType=priority/multifactor",
    "PriorityCalcPeriod=1",
    "PriorityDecayHalfLife=1-0",
    "PriorityWeightFairshare=100000",
)
SHOWN = "Account%30,User%20,RawShares,NormShares%30,NormUsage%30,EffectvUsage%30,FairShare%30,LevelFS%30"
RECORDED = Path(__file__).with_name("recorded")


def record(setting, folder):
    """Let users use the machine for two periods; what sacctmgr says of the tree, and sshare then."""
    from real_slurm.accounting import Accounted

    Path(folder).chmod(0o755)  # jobs of other users are launched from there
    with Accounted(folder, NODES, [*COMMON, *SETTINGS[setting]]) as cluster:
        for name, parent, shares in ACCOUNTS:
            cluster.manage("add", "account", name, f"parent={parent}", f"fairshare={shares}")
        for name, account, shares in USERS:
            cluster.manage("add", "user", name, f"account={account}", f"fairshare={shares}")
        for i, (user, account, nodes) in enumerate(USED):
            answer = cluster._run(
                "sbatch", f"--uid={user}", "-A", account, "-J", f"u{i}", "-N", str(nodes), "--wrap", "sleep 90",
                "-o", "/dev/null", "-D", "/tmp", "-t", "5",
            )  # fmt: skip
            if answer.returncode:
                raise RuntimeError(f"sbatch refused a job of {user}: {answer.stderr}")
            time.sleep(2)  # usage differs from job to job
        while len(cluster.completed()) < len(USED):
            time.sleep(0.5)
        time.sleep(65)  # a period
        tree = cluster.run("sacctmgr", "-P", "show", "assoc", "format=Cluster,Account,User,Partition,ParentName,Share")
        return tree, cluster.run("sshare", "-l", "-a", "-P", "-o", SHOWN)


if __name__ == "__main__":
    setting = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        tree, shares = record(setting, folder)
    (RECORDED / "shares-tree.txt").write_text(tree)
    (RECORDED / f"shares-{setting}.txt").write_text(shares)
