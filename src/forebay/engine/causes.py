"""Why a job that waits may not start now: what holds it back, and which row of its table."""

from enum import IntEnum

import numpy as np


class HeldBy(IntEnum):
    """What holds jobs back."""

    NOTHING = -1
    LIMIT = 0  # the row of a meter; its part is what of it, see `limits.kernels.exceeded`
    RESERVATION = 1  # its row
    PARTITION = 2  # a stretch in which it lets no job start


CAUSE = np.dtype([("by", "i8"), ("row", "i8"), ("part", "i8")], align=True)
