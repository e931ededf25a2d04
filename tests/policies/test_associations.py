"""Fair share of associations: which user is charged in which account, and priorities from the tree, by hand."""

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.platforms import Account
from forebay.policies._families.accounts import Member, read, write
from forebay.policies._families.multifactor import Column, Number
from forebay.policies.multifactor import Multifactor
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

ANN, BOB, CID = 1, 2, 3
PHYSICS, THEORY, CHEMISTRY = 10, 11, 12
NAMES = {
    "user": {ANN: "ann", BOB: "bob", CID: "cid"},
    "account": {PHYSICS: "physics", THEORY: "theory", CHEMISTRY: "chemistry"},
}
TREE = (
    Account(name="physics", shares=3, users={"bob": 1}),
    Account(name="theory", parent="physics", users={"ann": 2, "zoe": 1}),
    Account(name="chemistry", users={"cid": 1, "ann": 1}),
)


def workload(*jobs, **more):
    """Jobs as (submit, seconds, nodes, user, account)."""
    submit, seconds, nodes, user, account = zip(*jobs, strict=True)
    columns = {"id": range(1, len(jobs) + 1), "submit": submit, "run_time": seconds, "walltime": seconds}
    columns = {key: list(map(float, value)) if key != "id" else value for key, value in columns.items()}
    return fb.Workload(
        "by hand", job_table(columns | {"nodes": nodes, "user": user, "account": account} | more), names=NAMES
    )


def factors(work, accounts=TREE, **options):
    """The result, and the factors of all users at the end: by codes of account and user."""
    seen = []

    class Watched(Multifactor):
        def remarks(self, memory):
            seen.append([part.copy() for part in memory])
            return super().remarks(memory)

    machine = fb.platform("flat:nodes=8").model_copy(update={"accounts": accounts})
    policy = Watched(**{"PriorityWeightAge": 0, "charged": "association"} | options)
    result = fb.simulate(work, machine, policy)
    integers, numbers = seen[0]
    found = {}
    for c in range(int(integers[0, Column.COUNT])):
        account, user = divmod(int(integers[c, Column.CHARGE_CODE]), len(numbers) + 1)  # of which the index has no part
        key = int(integers[account, Column.ACCOUNT_CODE]), int(integers[user, Column.USER_CODE])
        found[key] = float(numbers[c, Number.FACTOR])
    return result, found, numbers


def test_ranks_in_the_tree():
    """At 300 bob (physics) has used 4 nodes, cid (chemistry) 4 as well: accounts have half of the usage each, physics
    3/4 of the shares: 1.5 to 0.5. In physics theory (1/2 of shares, no usage) is before bob. In theory ann and zoe have
    used nothing, and in chemistry neither has ann. Ranks of 5: ann and zoe 5, bob 3, ann of chemistry 2, cid 1."""
    work = workload((0, 400, 4, BOB, PHYSICS), (0, 400, 4, CID, CHEMISTRY), (1, 10, 8, CID, CHEMISTRY),
                    (2, 10, 8, BOB, PHYSICS), (3, 10, 8, ANN, CHEMISTRY), (4, 10, 8, ANN, THEORY))  # fmt: skip
    result, found, numbers = factors(work)
    zoe = next(user for account, user in found if account == THEORY and user != ANN)
    assert found == {
        (THEORY, ANN): 1.0, (THEORY, zoe): 1.0, (PHYSICS, BOB): 0.6, (CHEMISTRY, ANN): 0.4, (CHEMISTRY, CID): 0.2
    }  # fmt: skip
    assert numbers[2:6, Number.PRIORITY].tolist() == [200, 600, 400, 1000]
    assert result.jobs.sort("job_id")["starting_time"].to_list() == [0, 0, 430, 410, 420, 400]
    assert not [note for note in result.facts["notes"] if "tree" in note]


def test_older_algorithm_in_the_tree():
    """The same. Usage of accounts is 1/2 each, shares 3/4 and 1/4. bob has 3/8 of all shares, effective usage 1/2;
    cid 1/8, 1/2: 2^(-4/3) and 2^-4. Of what others used ann has half in chemistry, 1/4 over 1/8; in theory no user has
    used anything: it has 0 + 1/2 x 1/2 = 1/4 for 3/8 of the shares, and ann 2/3 of both."""
    work = workload((0, 400, 4, BOB, PHYSICS), (0, 400, 4, CID, CHEMISTRY), (2, 10, 8, BOB, PHYSICS))
    _, found, _ = factors(work, NO_FAIR_TREE=True)
    assert found[PHYSICS, BOB] == pytest.approx(2 ** (-4 / 3))
    assert found[CHEMISTRY, CID] == pytest.approx(2**-4)
    assert found[CHEMISTRY, ANN] == pytest.approx(2**-2)
    assert found[THEORY, ANN] == pytest.approx(2 ** (-2 / 3))


def test_who_is_not_in_the_tree_has_one_share_there_and_is_counted():
    work = workload((0, 400, 4, CID, THEORY), (0, 400, 4, CID, 99), (1, 10, 8, ANN, THEORY))
    result, found, _ = factors(work)
    assert set(found) > {(THEORY, CID), (99, CID)}
    [note] = [note for note in result.facts["notes"] if "tree" in note]
    assert note.startswith("2 users in accounts are not in the tree of shares: each has 1 share there")


def test_without_a_tree_accounts_and_users_that_come_make_one():
    """Two accounts with one share each: theory has used 7 of 8 nodes, so that cid of physics goes before ann."""
    work = workload(
        (0, 400, 7, ANN, THEORY), (0, 400, 1, BOB, PHYSICS), (1, 10, 8, ANN, THEORY), (2, 10, 8, CID, PHYSICS)
    )
    _, found, _ = factors(work, ())
    assert found == {(PHYSICS, CID): 1.0, (PHYSICS, BOB): 2 / 3, (THEORY, ANN): 1 / 3}


def test_shares_of_one_partition():
    """ann's jobs in partition 5 are charged apart from her others."""
    tree = (Account(name="theory", users={"ann": 1, "ann:long": 1, "bob": 1}),)
    work = workload((0, 400, 4, ANN, THEORY), (0, 400, 4, ANN, THEORY), (1, 10, 8, BOB, THEORY), queue=[5, 6, 6])
    work = fb.Workload("parts", work.jobs, names=NAMES | {"queue": {5: "long", 6: "short"}})
    _, _, numbers = factors(work, tree)
    used = 1200 * (1 - 0.693 / 604800) ** 300
    assert numbers[:3, Number.USAGE].tolist() == pytest.approx([used, 0, used])  # ann, bob, ann in partition long
    assert numbers[:3, Number.FACTOR].tolist() == pytest.approx([2 / 3, 1, 2 / 3])


def test_jobs_without_an_account_are_of_the_user_that_the_tree_has():
    work = workload((0, 400, 4, BOB, -1), (1, 10, 8, BOB, PHYSICS))
    _, found, _ = factors(work)
    assert (PHYSICS, BOB) in found
    assert len(found) == 5


def test_a_tree_as_text():
    members = [Member("a/b", "root", 3.0), Member("c", "a/b", -1.0), Member("@d;e", "c", 0.5, True, "x:y")]
    assert write(members) == "a%2Fb=3;a%2Fb/c=parent;c/@%40d%3Be:x%3Ay=0.5"
    assert read(write(members)) == members


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=1;b/c=2", "shares: 'c' is in account 'b', which has no shares"),
        ("a=1;a=2", "shares: a is there twice; keep one"),
        ("a=1;a/@ann=1;a/@ann=2", "shares: a/@ann is there twice"),
        ("a/b=1;b/a=1", "shares: account 'b' is inside itself"),
        ("a=-1", "shares: 'a=-1' is not a share in a tree; write ACCOUNT=NUMBER"),
        ("a", "shares: 'a' is not a share in a tree"),
    ],
)
def test_text_that_is_no_tree(text, message):
    with pytest.raises(InputError, match=message):
        fb.policies.load(f"multifactor:charged=association,shares={text}")


@pytest.mark.parametrize(
    ("accounts", "message"),
    [
        ("[accounts.a]\nparent = 'b'", "account 'a' is in 'b', which is not there"),
        ("[accounts.a]\nparent = 'b'\n[accounts.b]\nparent = 'a'", "account 'a' is inside itself"),
        ("[accounts.a]\nshares = -1", r"accounts.a.shares: -1 is no number of shares; write one such as 10"),
        ("[accounts.a]\nusers = { ann = 'much' }", "'much' is no number of shares"),
        ("[accounts.a]\nusers = { 'ann:' = 1 }", "'ann:' is no user; write a name"),
    ],
)
def test_accounts_of_a_file_that_are_no_tree(tmp_path, accounts, message):
    (tmp_path / "site.toml").write_text(f"nodes = 4\n{accounts}\n")
    with pytest.raises(InputError, match=message):
        fb.platform(tmp_path / "site.toml")
