"""From the compiled loop into Python and back: how a policy in plain Python is called without leaving the loop.

Handing two dozen tables from Python to a kernel takes 18 us; calling Python from the loop takes 0.3. So the loop calls
a kernel as ever, and that kernel calls a Python function by its address.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_CALLBACK = ctypes.CFUNCTYPE(None)


@intrinsic
def call_address(typing_context, address):
    """Call the C function without arguments that stands at `address`."""

    def generate(context, builder, signature, arguments):
        function = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def address_of(function: Callable[[], None]) -> tuple[int, Any]:
    """The address of a Python function as C sees it, and the object to keep alive while it may be called."""
    callback = _CALLBACK(function)
    return ctypes.cast(callback, ctypes.c_void_p).value or 0, callback
