"""From compiled code into Python and back, by the address of a Python function.

Handing two dozen tables from Python to a kernel takes 18 us; calling Python from a kernel takes 0.3. So a policy in
plain Python is called from within the loop, and so is who empties its buffers.
"""

import ctypes
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_C_FUNCTION = ctypes.CFUNCTYPE(None)


class Callback:
    """A Python function without arguments that kernels can call while this object lives. It must not raise."""

    def __init__(self, function: Callable[[], None]):
        self.function, self._c = function, _C_FUNCTION(function)
        # Not by ctypes.cast: it ties what it is given into a cycle, and with it a run's tables.
        self.address = ctypes.c_void_p.from_buffer(self._c).value or 0
        _live[self.address] = self


_live: "WeakValueDictionary[int, Callback]" = WeakValueDictionary()


def _look_up(address: int) -> None:
    _live[int(address)].function()


@intrinsic
def _call_address(_: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), code


def _read(address: int) -> int:
    return ctypes.c_uint8.from_address(int(address)).value


@intrinsic
def _peek(_: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        # Atomic, which costs nothing here: a plain load may be taken out of the loop that waits for it to change.
        return builder.zext(builder.load_atomic(place, "monotonic", 1), ir.IntType(64))

    return types.int64(types.int64), code


call_address = _look_up if numba.config.DISABLE_JIT else _call_address
"""Call the function at an address."""
peek = _read if numba.config.DISABLE_JIT else _peek
"""The byte at an address, which others may write at any time."""
