"""The parameter of slurm-bb, by place."""

from enum import IntEnum


class Param(IntEnum):
    """What the kernel reads, by place."""

    MAX_PLANNED = 0
