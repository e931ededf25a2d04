"""Fair share over a tree of accounts, compared with `sshare` of a real Slurm (22.05): see shares.py."""

import os
import tempfile

import numpy as np
import pytest

import forebay as fb
from forebay._run.names import on_site
from forebay.policies._families.multifactor import Column, Number
from forebay.policies._kernels.priority.fair_share import begin_tree, share_in_tree
from forebay.slurm.description import describe
from real_slurm.accounting import lacking
from real_slurm.shares import COMMON, RECORDED, SETTINGS, record

pytestmark = pytest.mark.small
CONF = "\n".join(["ClusterName=mini", "NodeName=n[1-4] CPUs=1", *COMMON]) + "\n"


def shown(text):
    """What sshare shows: by account and user, the part of all usage, and the factor."""
    head, *rows = [line.split("|") for line in text.splitlines()]
    told = [dict(zip(head, map(str.strip, row), strict=True)) for row in rows]
    return {
        (row["Account"], row["User"]): (float(row["NormUsage"]), float(row["FairShare"])) for row in told if row["User"]
    }


def computed(folder, tree, setting, usage):
    """Factors of the site in slurm.conf and sacctmgr's output, given the usage of each user."""
    (folder / "slurm.conf").write_text(CONF + "\n".join(SETTINGS[setting]))
    (folder / "assoc.txt").write_text(tree)
    site = describe([folder / "slurm.conf", folder / "assoc.txt"])
    (folder / "site.toml").write_text(site.platform("recorded"))
    machine = fb.platform(folder / "site.toml")
    parameters = ",".join(f"{name}={value}" for name, value in site.parameters.items())
    users = sorted({user for _, user in usage})
    accounts = sorted({account for account, _ in usage})
    table = fb.workload.workload.job_table(
        {"id": [1], "submit": [0.0], "run_time": [1.0], "walltime": [1.0], "nodes": [1], "account": [0]}
    )
    names = {"user": dict(enumerate(users)), "account": dict(enumerate(accounts))}
    policy, notes = on_site(fb.policies.load(f"slurm:{parameters}"), fb.Workload("one", table, names=names), machine)
    assert notes == []
    (n, columns), (_, numbers) = policy.remembered(1)
    integers, floats, weights = np.zeros((n, columns), np.int64), np.zeros((n, numbers)), policy.weights()
    begin_tree(weights, integers, floats)
    assert integers[0, Column.COUNT] == len(usage)
    keys = {}
    for c in range(len(usage)):
        account, user = divmod(int(integers[c, Column.CHARGE_CODE]), n + 1)
        account, user = integers[account, Column.ACCOUNT_CODE], integers[user, Column.USER_CODE]
        keys[names["account"][int(account)], names["user"][int(user)]] = c
        floats[c, Number.USAGE] = usage[names["account"][int(account)], names["user"][int(user)]]
    share_in_tree(weights, integers, floats)
    return {key: floats[c, Number.FACTOR] for key, c in keys.items()}


def compare(folder, tree, shares, setting):
    told = shown(shares)
    ours = computed(folder, tree, setting, {key: usage for key, (usage, _) in told.items()})
    assert ours == pytest.approx(
        {key: factor for key, (_, factor) in told.items()}, abs=2e-4 if "no" in setting else 1e-6
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_factors_are_those_of_sshare(tmp_path, setting):
    tree = (RECORDED / "shares-tree.txt").read_text()
    compare(tmp_path, tree, (RECORDED / f"shares-{setting}.txt").read_text(), setting)


def test_tied_accounts_are_not_merged():
    """What the manual says they would be: f and g have level fair share 0, and all of f's users are before g's."""
    told = shown((RECORDED / "shares-fair_tree.txt").read_text())
    factors = {key: factor for key, (_, factor) in told.items() if key[0] in "fg"}
    assert sorted(factors, key=factors.get, reverse=True)[0] == ("f", "sys")
    assert factors["f", "lp"] == factors["g", "bin"] > factors["g", "man"]


@pytest.mark.full
@pytest.mark.skipif(bool(lacking()), reason=f"not installed: {lacking()}; see scripts/install_slurm.sh")
@pytest.mark.skipif(os.getuid() != 0, reason="only root submits jobs in the names of other users")
@pytest.mark.parametrize("setting", SETTINGS)
def test_factors_are_those_of_sshare_now(tmp_path, setting):
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:  # other users have no way to folders of pytest's
        tree, shares = record(setting, folder)
    compare(tmp_path, tree, shares, setting)
