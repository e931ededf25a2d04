"""The parameter of fcfs-malleable, by place."""

from enum import IntEnum


class Param(IntEnum):
    """What the kernel reads, by place."""

    WHEN_IDLE = 0
