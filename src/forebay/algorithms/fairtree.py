"""Fair share over a tree of accounts, as Slurm counts it: Fair Tree, and the older algorithm.

Account 0 is the root, and every account follows its parent. A user with PARENT for shares has those of its account. An
account with PARENT is skipped: what is below it counts as below its parent, and it gets no numbers here.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest

PARENT = -1.0


@kernel
def _sum_up(above, of_accounts, under, of_users, usage, used, level):
    """The usage of each account with all below it, and the sum of the shares directly below it."""
    for a in range(len(above)):
        used[a] = level[a] = 0.0
    for u in range(len(under)):
        used[under[u]] += usage[u]
        level[under[u]] += max(of_users[u], 0.0)
    for a in range(len(above) - 1, 0, -1):
        if of_accounts[a] != PARENT:
            used[above[a]] += used[a]
            level[above[a]] += of_accounts[a]


@kernel
def _level_fs(shares, all_shares, used, all_used):
    """Level fair share: the part of the shares among siblings over the part of their usage."""
    if shares == PARENT:
        return np.inf
    if shares == 0.0:
        return 0.0
    return (shares / all_shares) / (used / all_used) if used > 0.0 else np.inf


@allocating_kernel
def _in_order(top, fs, is_account):
    """All nodes but the root by the account above, level fair share (the highest first), users first, and number."""
    n = len(top)
    keys, ties, order, places = np.empty(n - 1), np.empty(n - 1, np.int64), np.arange(1, n), np.empty(n, np.int64)
    for i in range(n - 1):
        keys[i], ties[i] = -fs[1 + i], is_account[1 + i] * n + 1 + i
    sort_smallest(keys, ties, order, n - 1, n - 1)
    for i in range(n - 1):
        places[order[i]] = i
    for i in range(n - 1):
        keys[i], ties[i], order[i] = top[1 + i], places[1 + i], 1 + i
    sort_smallest(keys, ties, order, n - 1, n - 1)
    return order


@allocating_kernel
def fair_tree(above, of_accounts, under, of_users, usage, factors):
    """The factor of each user: its rank in the tree over the number of users, 1 for the first.

    Siblings are visited by level fair share, the highest first, users before accounts, then by number; accounts with
    all that is below them. A user equal to the sibling before has the rank of the user before, and so has the first
    user in an account equal to the sibling before.
    """
    n_accounts, n = len(above), len(above) + len(under)
    used, level = np.empty(n_accounts), np.empty(n_accounts)
    _sum_up(above, of_accounts, under, of_users, usage, used, level)
    fs, top, is_account = np.zeros(n), np.full(n, -1, np.int64), np.zeros(n, np.int64)
    for a in range(1, n_accounts):
        is_account[a] = 1
        if of_accounts[a] != PARENT:  # else it is nowhere
            top[a] = above[a]
            fs[a] = _level_fs(of_accounts[a], level[above[a]], used[a], used[above[a]])
    for u in range(len(under)):
        top[n_accounts + u] = under[u]
        fs[n_accounts + u] = _level_fs(of_users[u], level[under[u]], usage[u], used[under[u]])
    order = _in_order(top, fs, is_account)
    first, last = np.zeros(n_accounts, np.int64), np.zeros(n_accounts, np.int64)
    for i in range(n - 1):
        p = top[order[i]]
        if p >= 0:
            first[p] = i if last[p] == 0 else first[p]
            last[p] = i + 1
    _rank(order, fs, n_accounts, first, last, factors)


@allocating_kernel
def _rank(order, fs, n_accounts, first, last, factors):
    """Go down the tree, and give ranks to users as they come."""
    begins, at, ends = np.zeros(n_accounts, np.int64), np.zeros(n_accounts, np.int64), np.zeros(n_accounts, np.int64)
    tied = np.zeros(n_accounts, np.bool_)  # whether the first of a level is equal to the sibling before its account
    depth, begins[0], at[0], ends[0] = 0, first[0], first[0], last[0]
    n = len(factors)
    rank = left = n
    while depth >= 0:
        i = at[depth]
        if i == ends[depth]:
            depth -= 1
            continue
        at[depth] += 1
        node = order[i]
        alike = tied[depth] if i == begins[depth] else fs[node] == fs[order[i - 1]]
        if node >= n_accounts:
            if not alike:
                rank = left
            factors[node - n_accounts] = rank / n
            left -= 1
        else:
            depth += 1
            begins[depth] = at[depth] = first[node]
            ends[depth], tied[depth] = last[node], alike


@allocating_kernel
def fair_share(above, of_accounts, under, of_users, usage, dampening, factors):
    """The factor of each user by the older algorithm: 2^(-effective usage / normalised shares)."""
    n = len(above)
    used, level = np.empty(n), np.empty(n)
    _sum_up(above, of_accounts, under, of_users, usage, used, level)
    shares, effective = np.ones(n), np.ones(n)
    if used[0] == 0.0:
        effective[0] = 0.0
    for a in range(1, n):
        if of_accounts[a] != PARENT:
            p = above[a]
            shares[a], effective[a] = _counted(of_accounts[a], used[a], level[p], used[0], shares[p], effective[p], p)
    for u in range(len(under)):
        p = under[u]
        own, its = shares[p], effective[p]
        if of_users[u] != PARENT:
            own, its = _counted(of_users[u], usage[u], level[p], used[0], shares[p], effective[p], p)
        factors[u] = 2.0 ** (-its / own / dampening) if own > 0.0 else 0.0


@kernel
def _counted(raw, used, level, all_used, shares, effective, p):
    """Normalised shares, and effective usage, which includes a part of the parent's unless that is the root."""
    part, usage = raw / level if level > 0.0 else 0.0, used / all_used if all_used > 0.0 else 0.0
    return shares * part, usage if p == 0 else usage + (effective - usage) * part
