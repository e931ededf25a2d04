"""The parameters of mebf, by place."""

from enum import IntEnum


class Param(IntEnum):
    """What the kernel reads, by place."""

    SHARING = 0
    GAMMA = 1
    ALPHA = 2
    RECORDED = 3
    GUARD = 4
