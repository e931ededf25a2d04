"""The parameters of the policy slurm, by place."""

from enum import IntEnum


class Sched(IntEnum):
    """What the kernel reads, by place; the weights of priorities follow."""

    MULTIFACTOR = 0  # 1 = priorities are multifactor; 0 = in order of arrival
    DEFER = 1
    QUEUE_DEPTH = 2
    PARTITION_DEPTH = 3
    BATCH_DELAY = 4
    SCHED_INTERVAL = 5
    BF_INTERVAL = 6
    BF_WINDOW = 7  # s
    BF_RESOLUTION = 8
    BF_LINEAR = 9
    BF_MAX_TEST = 10
    BF_MAX_USER = 11  # 0 = no limit, as below
    BF_MAX_PART = 12
    BF_MAX_START = 13
    BF_MIN_AGE = 14
    RESERVED = 15  # how many resources a reservation holds, nodes first
    FIRST_LICENSE = 16  # licences are the resources from this one to before the next
    LAST_LICENSE = 17
