"""The parameters of the policy slurm, by place."""

from enum import IntEnum


class Sched(IntEnum):
    """What the kernel reads, by place; the weights of priorities follow."""

    MULTIFACTOR = 0  # 1 = priorities are multifactor; 0 = in order of arrival
    QUEUE_DEPTH = 1
    PARTITION_DEPTH = 2
    BATCH_DELAY = 3
    SCHED_INTERVAL = 4
    BF_INTERVAL = 5
    BF_WINDOW = 6  # s
    BF_RESOLUTION = 7
    BF_LINEAR = 8
    BF_MAX_TEST = 9
    BF_MAX_USER = 10  # 0 = no limit, as below
    BF_MAX_PART = 11
    BF_MAX_START = 12
    BF_MIN_AGE = 13
    RESERVED = 14  # how many resources a reservation holds, nodes first
    FIRST_LICENSE = 15  # licences are the resources from this one to before the next
    LAST_LICENSE = 16
    PINNED = 17  # 1 = a reservation is of nodes by their numbers
    LOOK_EVERY = 18  # s; 0 = at once
