"""Fair share over the tree of a site's accounts: the user charged for each job, and the factors of all users."""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.fairtree import fair_share, fair_tree
from forebay.policies._families.multifactor import Column, Number, Row, Weight
from forebay.policies._kernels.priority.numbering import ACCOUNTS, CHARGES, USERS, number_of

_N_WEIGHTS, _WIDTH = len(Weight), 4  # numbers a row of the tables
_ACCOUNT, _USER, _PARTITION, _SHARES = 0, 1, 2, 3  # of a user


@kernel
def _first_of_tree(weights):
    """Where the tables of the tree begin: after those of shares, partitions and QOS."""
    pairs = weights[Weight.N_SHARES] + weights[Weight.N_PARTITIONS] + weights[Weight.N_QOS]
    return _N_WEIGHTS + 2 * int(pairs)


@kernel
def _key(integers, account, user):
    return account * (len(integers) + 1) + user


@kernel
def _plant(weights, integers, numbers):
    """Number the accounts and users of the tree in its own order."""
    at = _first_of_tree(weights)
    for a in range(int(weights[Weight.N_ACCOUNTS])):
        number_of(integers, ACCOUNTS, int(weights[at]))
        integers[a, Column.ABOVE], integers[a, Column.STANDS] = int(weights[at + 1]), int(weights[at + 3])
        numbers[a, Number.ACCOUNT_SHARES] = weights[at + 2]
        at += _WIDTH
    for c in range(int(weights[Weight.N_USERS])):
        account, user = int(weights[at + _ACCOUNT]), number_of(integers, USERS, int(weights[at + _USER]))
        if weights[at + _PARTITION] == -1:
            number_of(integers, CHARGES, _key(integers, account, user))
        else:  # found by a search through all of them
            integers[CHARGES, Column.COUNT] += 1
        integers[c, Column.UNDER] = integers[account, Column.STANDS]
        numbers[c, Number.SHARES] = weights[at + _SHARES]
        at += _WIDTH


@kernel
def _told(weights, integers, job):
    """The user of the tree for a job whose account does not decide it: by partition, or for jobs without account."""
    n, n_accounts = int(weights[Weight.N_USERS]), int(weights[Weight.N_ACCOUNTS])
    at, n_plain = _first_of_tree(weights) + _WIDTH * n_accounts, n - int(weights[Weight.N_IN_PARTITIONS])
    for c in range(n_plain, n):
        row = at + _WIDTH * c
        code = integers[int(weights[row + _ACCOUNT]), Column.ACCOUNT_CODE]
        is_its = weights[row + _USER] == job["user"] and weights[row + _PARTITION] == job["queue"]
        if is_its and (code == job["account"] or job["account"] < 0):
            return c
    if job["account"] < 0:
        for c in range(n_plain):
            if weights[at + _WIDTH * c + _USER] == job["user"]:
                return c
    return -1


@kernel
def charge_of(weights, integers, numbers, job):
    """The number of the charge for a job: its user in its account. One that is not in the tree has 1 share there."""
    score = _told(weights, integers, job)
    if score >= 0:
        return score
    account = 0
    if job["account"] >= 0:
        n = integers[ACCOUNTS, Column.COUNT]
        account = number_of(integers, ACCOUNTS, job["account"])
        if account == n:
            integers[account, Column.ABOVE], integers[account, Column.STANDS] = 0, account
            numbers[account, Number.ACCOUNT_SHARES] = 1.0
    user, n = number_of(integers, USERS, job["user"]), integers[CHARGES, Column.COUNT]
    charge = number_of(integers, CHARGES, _key(integers, account, user))
    if charge == n:
        integers[charge, Column.UNDER] = integers[account, Column.STANDS]
        numbers[charge, Number.SHARES] = 1.0
        integers[Row.STRANGERS, Column.COUNT] += 1
    return charge


@allocating_kernel
def share_in_tree(weights, integers, numbers):
    """The fair-share factor of every charge."""
    n_accounts, n = integers[ACCOUNTS, Column.COUNT], integers[CHARGES, Column.COUNT]
    above, under = np.empty(n_accounts, np.int64), np.empty(n, np.int64)
    of_accounts, of_users, usage, factors = np.empty(n_accounts), np.empty(n), np.empty(n), np.empty(n)
    for a in range(n_accounts):
        above[a], of_accounts[a] = integers[a, Column.ABOVE], numbers[a, Number.ACCOUNT_SHARES]
    for c in range(n):
        under[c], of_users[c] = integers[c, Column.UNDER], numbers[c, Number.SHARES]
        usage[c] = numbers[c, Number.USAGE]
    if weights[Weight.FAIR_TREE] > 0.0:
        fair_tree(above, of_accounts, under, of_users, usage, factors)
    else:
        fair_share(above, of_accounts, under, of_users, usage, weights[Weight.DAMPENING], factors)
    for c in range(n):
        numbers[c, Number.FACTOR] = factors[c]


@allocating_kernel
def begin_tree(weights, integers, numbers):
    """Before a run's first decision: the site's tree, and the factors of users without usage."""
    if integers[ACCOUNTS, Column.COUNT] == 0:
        _plant(weights, integers, numbers)
        share_in_tree(weights, integers, numbers)
