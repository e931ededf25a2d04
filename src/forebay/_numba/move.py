"""Rows of a table moved in one go. Numba copies item by item and, where two arrays might overlap, one at a time.

Neither function is bounds-checked: callers go over the same rows of another array of that length.
"""

from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic


def _copy(source: Any, target: Any, n: int) -> None:
    target[:n] = source[:n]


def _shift(table: Any, first: int, n: int) -> None:
    table[first + 1 : n + 1] = table[first:n]


def _row(context: Any, builder: Any, kind: Any, value: Any, place: Any) -> tuple[Any, Any]:
    """Where row `place` of a contiguous table begins, and how many bytes a row has."""
    from numba.np.arrayobj import make_array  # takes long to import, and finished code needs none of it

    table = make_array(kind)(context, builder, value)
    # Not its first stride: NumPy has one of 8 bytes for rows of none.
    size = builder.mul(table.itemsize, cgutils.unpack_tuple(builder, table.shape)[1])
    begin = builder.bitcast(table.data, cgutils.voidptr_t)
    return builder.gep(begin, [builder.mul(size, place)]), size


@intrinsic
def _copy_rows(_: Any, source: types.Array, target: types.Array, n: types.Integer) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        n = arguments[2]
        zero = n.type(0)
        begin, size = _row(context, builder, signature.args[0], arguments[0], zero)
        to, _ = _row(context, builder, signature.args[1], arguments[1], zero)
        cgutils.raw_memcpy(builder, to, begin, n, size)
        return impl_ret_untracked(context, builder, signature.return_type, context.get_dummy_value())

    return types.none(source, target, types.int64), code


@intrinsic
def _shift_rows(_: Any, table: types.Array, first: types.Integer, n: types.Integer) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, n = arguments[1:]
        begin, size = _row(context, builder, signature.args[0], arguments[0], first)
        cgutils.raw_memmove(builder, builder.gep(begin, [size]), begin, builder.sub(n, first), size)
        return impl_ret_untracked(context, builder, signature.return_type, context.get_dummy_value())

    return types.none(table, types.int64, types.int64), code


copy_rows = _copy if numba.config.DISABLE_JIT else _copy_rows
"""The first `n` rows of one table to another."""
shift_rows = _shift if numba.config.DISABLE_JIT else _shift_rows
"""The rows from `first` to before `n` to the places behind theirs."""
