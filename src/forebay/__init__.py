"""forebay: batch scheduling on machines with burst buffers.

    import forebay as fb
    fb.simulate(fb.read("trace.swf"), fb.platform("flat:nodes=100"), "fcfs-easy").jobs

Names are loaded when first used, so that `forebay --help` and file conversion never wait for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay._simulate import simulate
    from forebay.core.codes import LogReason, Trigger
    from forebay.core.tables import policy_kernel
    from forebay.core.view import Actions, View
    from forebay.errors import ForebayError
    from forebay.metrics import summary
    from forebay.platforms import load as platform
    from forebay.platforms.platform import Platform
    from forebay.policies import Policy
    from forebay.results import Result, load
    from forebay.workload import Workload, read, write

    __version__: str

_HOME = {
    "Actions": ("forebay.core.view", "Actions"),
    "ForebayError": ("forebay.errors", "ForebayError"),
    "LogReason": ("forebay.core.codes", "LogReason"),
    "Platform": ("forebay.platforms.platform", "Platform"),
    "Policy": ("forebay.policies", "Policy"),
    "Result": ("forebay.results", "Result"),
    "Trigger": ("forebay.core.codes", "Trigger"),
    "View": ("forebay.core.view", "View"),
    "Workload": ("forebay.workload", "Workload"),
    "load": ("forebay.results", "load"),
    "platform": ("forebay.platforms", "load"),
    "policy_kernel": ("forebay.core.tables", "policy_kernel"),
    "read": ("forebay.workload", "read"),
    "simulate": ("forebay._simulate", "simulate"),
    "summary": ("forebay.metrics", "summary"),
    "write": ("forebay.workload", "write"),
}
__all__ = [
    "Actions",
    "ForebayError",
    "LogReason",
    "Platform",
    "Policy",
    "Result",
    "Trigger",
    "View",
    "Workload",
    "load",
    "platform",
    "policy_kernel",
    "read",
    "simulate",
    "summary",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("forebay")
    if name not in _HOME:
        raise AttributeError(f"module 'forebay' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
