"""How many bits of a number are set: one instruction, of which a dozen became in arithmetic."""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic


def _counted(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.ctpop(values[0])


def _typed(typing_context: Any, x: Any) -> Any:
    return types.int64(types.int64), _counted


def _plain(x: Any) -> int:
    return int(x).bit_count()


n_ones: Any = _plain if numba.config.DISABLE_JIT else intrinsic(_typed)
"""How many bits of a number that is not negative are set."""
