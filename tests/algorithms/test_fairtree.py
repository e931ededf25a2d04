"""Fair share over trees: solved by hand, and against a slow twin on random trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.fairtree import PARENT, fair_share, fair_tree
from twins import fairtree as twin

pytestmark = pytest.mark.small


def laid(nodes):
    """A tree as arrays: each account after its parent, level by level; users in the order of a walk."""
    above, of_accounts, under, of_users, usage, names = [0], [1.0], [], [], [], []

    def visit(nodes, path, account):
        numbers = {}
        for node in nodes:
            if not twin.is_user(node):
                numbers[node[0]] = len(above)
                is_parent = node[1] == "parent"
                above.append(account)
                of_accounts.append(PARENT if is_parent else float(node[1]))
        for node in nodes:
            if twin.is_user(node):
                under.append(account)
                of_users.append(PARENT if node[1] == "parent" else float(node[1]))
                usage.append(float(node[2]))
                names.append((*path, node[0]))
            else:
                visit(node[2], (*path, node[0]), numbers[node[0]])

    visit(twin.lifted(nodes), (), 0)
    arrays = np.array(above), np.array(of_accounts), np.array(under, np.int64), np.array(of_users), np.array(usage)
    return arrays, names


def factors(nodes, dampening=None):
    arrays, names = laid(nodes)
    found = np.zeros(len(names))
    if dampening is None:
        fair_tree(*arrays, found)
    else:
        fair_share(*arrays, dampening, found)
    return {".".join(name): value for name, value in zip(names, found.tolist(), strict=True)}


def test_all_of_a_better_account_go_first():
    """Root has A (40 shares of 100) with 30 % of the usage and B (60) with 70 %: level fair shares 1.33 and 0.86. So
    all of A's users are before all of B's, though in A ann has used most of it, and in B cid nearly nothing."""
    tree = [("a", 40, [("ann", 1, 29), ("bob", 1, 1)]), ("b", 60, [("cid", 1, 1), ("dan", 1, 69)])]
    assert factors(tree) == {"a.bob": 1.0, "a.ann": 0.75, "b.cid": 0.5, "b.dan": 0.25}


def test_three_levels():
    """a: 0.5 / 0.6, b: 0.5 / 0.4. In b, b1: (1/3) / 0.5 and b2: (2/3) / 0.5; in b2 eve: 0.5 / 0.8 and fay: 0.5 / 0.2.
    In a, the user ann, 0.5 / 0.5, and a1, 0.5 / 0.5, are siblings and equal, so a1's first user has the rank of ann."""
    tree = [
        ("a", 1, [("ann", 1, 30), ("a1", 1, [("bob", 1, 10), ("cid", 1, 20)])]),
        ("b", 1, [("b1", 1, [("dan", 1, 20)]), ("b2", 2, [("eve", 1, 16), ("fay", 1, 4)])]),
    ]
    wanted = {"b.b2.fay": 6, "b.b2.eve": 5, "b.b1.dan": 4, "a.ann": 3, "a.a1.bob": 3, "a.a1.cid": 1}
    assert factors(tree) == {name: rank / 6 for name, rank in wanted.items()}


def test_users_alike_have_one_rank_and_the_next_one_is_behind_all():
    tree = [("ann", 1, 5), ("bob", 1, 0), ("cid", 2, 10), ("dan", 1, 0)]
    assert factors(tree) == {"bob": 1.0, "dan": 1.0, "ann": 0.5, "cid": 0.5}


def test_accounts_alike_are_one_after_the_other():
    """f and g have no shares: level fair share 0 for both. A real Slurm (22.05) ranks f's users, then g's, and g's
    first has the rank of f's last; its manual says that it would order all four together."""
    tree = [("f", 0, [("sys", 1, 10), ("lp", 1, 40)]), ("g", 0, [("bin", 1, 20), ("man", 1, 30)])]
    assert factors(tree) == {"f.sys": 1.0, "f.lp": 0.75, "g.bin": 0.75, "g.man": 0.25}


def test_shares_of_the_parent():
    """An account with its parent's shares is skipped: dan and eve are siblings of ann. Of 4 shares ann and dan have
    1 each, eve 2, of usage 1/2, 1/4, 1/4: level fair shares 0.5, 1 and 2. A user with its parent's shares is first."""
    tree = [("ann", 1, 2), ("team", "parent", [("dan", 1, 1), ("eve", 2, 1)]), ("flo", "parent", 9)]
    assert factors(tree) == {"flo": 1.0, "eve": 0.75, "dan": 0.5, "ann": 0.25}


def test_older_algorithm():
    """Of all usage a has 3/4 and b 1/4; shares 1/2 each: 2^-1.5 and 2^-0.5 for accounts. In a, ann has used all: shares
    1/4, effective usage 3/4 + (3/4 - 3/4) / 2 = 3/4; bob nothing: 0 + 3/4 / 2 = 3/8. cid has the shares of b."""
    tree = [("a", 1, [("ann", 1, 3), ("bob", 1, 0)]), ("b", 1, [("cid", "parent", 1)])]
    assert factors(tree, 1.0) == pytest.approx({"a.ann": 2**-3, "a.bob": 2**-1.5, "b.cid": 2**-0.5})
    assert factors(tree, 2.0) == pytest.approx({"a.ann": 2**-1.5, "a.bob": 2**-0.75, "b.cid": 2**-0.25})


def test_nobody_has_used_anything():
    tree = [("a", 1, [("ann", 1, 0), ("b", 3, [("bob", 1, 0)])]), ("cid", 5, 0)]
    assert factors(tree) == {"a.ann": 1.0, "a.b.bob": 1.0, "cid": 1.0}
    assert factors(tree, 1.0) == {"a.ann": 1.0, "a.b.bob": 1.0, "cid": 1.0}


SHARES = st.sampled_from([0, 1, 1, 1, 2, 5, "parent"])
USERS = st.tuples(SHARES, st.integers(0, 6))


def trees(depth):
    inner = st.lists(trees(depth - 1), max_size=3) if depth else st.just([])
    return st.tuples(SHARES, st.lists(USERS, max_size=4), inner)


def named(shares, users, inner, path=""):
    """Names that are nowhere twice."""
    nodes = [(f"{path}u{i}", *user) for i, user in enumerate(users)]
    return nodes + [(f"{path}a{i}", one[0], named(*one, f"{path}a{i}")) for i, one in enumerate(inner)]


@given(trees(3))
def test_equal_to_the_twin(tree):
    nodes = named(*tree)
    if twin.count(nodes) == 0:
        return
    assert factors(nodes) == {".".join(path): value for path, value in twin.fair_tree(nodes).items()}
    slow = {".".join(path): value for path, value in twin.fair_share(nodes, 2.0).items()}
    assert factors(nodes, 2.0) == pytest.approx(slow)
