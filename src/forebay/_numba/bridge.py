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


call_address = _look_up if numba.config.DISABLE_JIT else _call_address
"""Call the function at an address."""
