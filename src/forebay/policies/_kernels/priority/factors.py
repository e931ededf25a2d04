"""A job's multifactor priority: the parts that never change while it waits, and their sum with age and fair share."""

import math

from forebay._numba.jit import kernel
from forebay.policies._families.multifactor import Clock, Number, Weight

_N_WEIGHTS, _WIDTH = len(Weight), 4  # numbers a row of an account or a user


@kernel
def behind_tables(weights):
    """Where the tables of shares, partitions, QOS and accounts end: what resources add to each job follows."""
    pairs = weights[Weight.N_SHARES] + weights[Weight.N_PARTITIONS] + weights[Weight.N_QOS]
    return _N_WEIGHTS + 2 * int(pairs) + _WIDTH * int(weights[Weight.N_ACCOUNTS] + weights[Weight.N_USERS])


@kernel
def value_in(weights, first, count, code, default):
    """What a table of (code, value) says of a code."""
    for i in range(first, first + 2 * count, 2):
        if weights[i] == code:
            return weights[i + 1]
    return default


@kernel
def _largest(weights, first, count, least):
    for i in range(first, first + 2 * count, 2):
        least = max(least, weights[i + 1])
    return least


@kernel
def _size_factor(state, weights, job):
    """The part of the machine that a job asks for, or what is left beside it; perhaps over the minutes it asks for."""
    part = job["nodes"] / state.resources[0]["capacity"]
    if weights[Weight.RELATIVE_TO_TIME] > 0.0:
        part /= max(job["walltime"] / 60.0, 1.0)
    return 1.0 - part if weights[Weight.FAVOR_SMALL] > 0.0 else part


@kernel
def write_parts(state, weights, numbers, j):
    """What a job's priority comes from, and never changes while it waits.

    When it came, what it asks for, its partition and its QOS.
    """
    job, row = state.jobs[j], numbers[j]
    row[Number.SUBMIT] = job["submit"]
    row[Number.SIZE], row[Number.PARTITION], row[Number.QOS] = 0.0, 0.0, 0.0
    if weights[Weight.JOB_SIZE] > 0.0:
        row[Number.SIZE] = weights[Weight.JOB_SIZE] * _size_factor(state, weights, job)
    if j < weights[Weight.N_TRES]:
        row[Number.SIZE] += weights[behind_tables(weights) + j]
    first = _N_WEIGHTS + 2 * int(weights[Weight.N_SHARES])
    if weights[Weight.PARTITION] > 0.0:
        n = int(weights[Weight.N_PARTITIONS])
        own, largest = value_in(weights, first, n, job["queue"], 1.0), _largest(weights, first, n, 1.0)
        row[Number.PARTITION] = weights[Weight.PARTITION] * own / largest
    if weights[Weight.QOS] > 0.0:
        first += 2 * int(weights[Weight.N_PARTITIONS])
        n = int(weights[Weight.N_QOS])
        own, largest = value_in(weights, first, n, job["qos"], 0.0), _largest(weights, first, n, 0.0)
        row[Number.QOS] = weights[Weight.QOS] * own / largest if largest > 0.0 else 0.0


@kernel
def priority_of(weights, numbers, j):
    """The priority that a job has since it came, or was last computed: a whole number, at least 1."""
    row = numbers[j]
    at = max(numbers[Clock.CALCULATED, Number.CLOCK], row[Number.MET], row[Number.SUBMIT])
    age = min((at - row[Number.SUBMIT]) / weights[Weight.MAX_AGE], 1.0)
    factor = numbers[int(row[Number.CHARGE]) - 1, Number.FACTOR]
    priority = weights[Weight.AGE] * age + weights[Weight.FAIRSHARE] * factor
    return max(math.floor(priority + row[Number.SIZE] + row[Number.PARTITION] + row[Number.QOS]), 1.0)
