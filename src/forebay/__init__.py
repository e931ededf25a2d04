"""forebay: batch scheduling on machines with burst buffers.

    >>> import forebay as fb
    >>> fb.simulate("table1", policy="fcfs-easy")
    <Result of fcfs-easy: 8 jobs on 4 nodes, mean wait 5.75 min>

From files to numbers:

- `read` and `write` workloads, name a `platform`, `simulate` them under a policy, `load` what was saved;
- `open` a run to step through it, go back, and try other futures;
- `summary` gives every number of a run, `forebay.metrics` each by itself, `metric` adds one of yours,
  `forebay.figures` gives pictures, `forebay.explain` why jobs waited;
- `bounds` tells what no policy can do better than;
- `fidelity` holds a simulation against what a trace recorded;
- `predict` says when waiting jobs will start, and `reliability` how good that is;
- `compare` ranks policies, with a verdict on each, and `capacity` finds how much is enough, as the commands do;
- `sweep` runs every combination of workloads, platforms, policies and seeds, and gives tables and figures;
- `forebay.policies.names()` and `forebay.platforms.names()` list what can be named.

Policies of your own read a `View` and write `Actions`, compiled ones use `forebay.kernels`; try them by
`forebay.testing.check_policy`. Every error is a `ForebayError`, and says what to do. Names are loaded when first used,
so importing forebay takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay import (  # noqa: F401
        adhoc,
        errors,
        experiments,
        explain,
        figures,
        kernels,
        learn,
        metrics,
        platforms,
        policies,
        report,
        results,
        testing,
    )
    from forebay import workload as workload
    from forebay._bounds import bounds
    from forebay._fidelity import fidelity
    from forebay._predict import predict, reliability
    from forebay._run.diverge import diverge
    from forebay._run.simulate import simulate
    from forebay._run.simulation import Simulation, Snapshot
    from forebay._run.simulation import open_run as open
    from forebay.core.actions import Actions
    from forebay.core.codes import Flexibility, JobState, LogReason, PhaseKind, Trigger, Urgency
    from forebay.core.tables import policy_kernel
    from forebay.core.view import View
    from forebay.core.views.profile import Profile
    from forebay.core.views.topology import Topology
    from forebay.errors import ForebayError
    from forebay.experiments.api import capacity, compare, sweep
    from forebay.experiments.capacity.answer import Capacity
    from forebay.experiments.comparison.answer import Comparison
    from forebay.experiments.swept.answer import Sweep
    from forebay.metrics import metric, summary
    from forebay.platforms import load as platform
    from forebay.platforms.platform import Platform
    from forebay.policies import Policy
    from forebay.results import Result, load
    from forebay.workload import Workload, read, write

    __version__: str

_HOME = {
    "Actions": ("forebay.core.actions", "Actions"),
    "Capacity": ("forebay.experiments.capacity.answer", "Capacity"),
    "Comparison": ("forebay.experiments.comparison.answer", "Comparison"),
    "Flexibility": ("forebay.core.codes", "Flexibility"),
    "ForebayError": ("forebay.errors", "ForebayError"),
    "JobState": ("forebay.core.codes", "JobState"),
    "LogReason": ("forebay.core.codes", "LogReason"),
    "PhaseKind": ("forebay.core.codes", "PhaseKind"),
    "Platform": ("forebay.platforms.platform", "Platform"),
    "Policy": ("forebay.policies", "Policy"),
    "Profile": ("forebay.core.views.profile", "Profile"),
    "Result": ("forebay.results", "Result"),
    "Simulation": ("forebay._run.simulation", "Simulation"),
    "Snapshot": ("forebay._run.simulation", "Snapshot"),
    "Sweep": ("forebay.experiments.swept.answer", "Sweep"),
    "Topology": ("forebay.core.views.topology", "Topology"),
    "Trigger": ("forebay.core.codes", "Trigger"),
    "Urgency": ("forebay.core.codes", "Urgency"),
    "View": ("forebay.core.view", "View"),
    "Workload": ("forebay.workload", "Workload"),
    "bounds": ("forebay._bounds", "bounds"),
    "capacity": ("forebay.experiments.api", "capacity"),
    "compare": ("forebay.experiments.api", "compare"),
    "diverge": ("forebay._run.diverge", "diverge"),
    "fidelity": ("forebay._fidelity", "fidelity"),
    "load": ("forebay.results", "load"),
    "metric": ("forebay.metrics", "metric"),
    "open": ("forebay._run.simulation", "open_run"),
    "platform": ("forebay.platforms", "load"),
    "predict": ("forebay._predict", "predict"),
    "policy_kernel": ("forebay.core.tables", "policy_kernel"),
    "read": ("forebay.workload", "read"),
    "reliability": ("forebay._predict", "reliability"),
    "simulate": ("forebay._run.simulate", "simulate"),
    "summary": ("forebay.metrics", "summary"),
    "sweep": ("forebay.experiments.api", "sweep"),
    "write": ("forebay.workload", "write"),
}
__all__ = [
    "Actions",
    "Capacity",
    "Comparison",
    "Flexibility",
    "ForebayError",
    "JobState",
    "LogReason",
    "PhaseKind",
    "Platform",
    "Policy",
    "Profile",
    "Result",
    "Simulation",
    "Snapshot",
    "Sweep",
    "Topology",
    "Trigger",
    "Urgency",
    "View",
    "Workload",
    "bounds",
    "capacity",
    "compare",
    "diverge",
    "fidelity",
    "load",
    "metric",
    "open",
    "platform",
    "policy_kernel",
    "predict",
    "read",
    "reliability",
    "simulate",
    "summary",
    "sweep",
    "write",
]

_INSTEAD = {
    "run": "simulate(workload, platform, policy) runs one; on the command line it is `forebay run`",
    "study": "`forebay study` is a command; what it runs is in forebay.studies",
    "plot": "`forebay plot` is a command; in Python see forebay.figures",
    "check_policy": "it is forebay.testing.check_policy; on the command line `forebay check-policy`",
    "warmup": "`forebay warmup` is a command",
}
"""Commands that have another name in Python, or none."""

_ROOMS = (
    "adhoc",
    "errors",
    "experiments",
    "explain",
    "figures",
    "kernels",
    "learn",
    "metrics",
    "platforms",
    "policies",
    "report",
    "results",
    "testing",
    "workload",
)
"""Packages that `forebay.NAME` reaches without an import of their own."""

if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every misspelt name for Any

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("forebay")
        if name in _ROOMS:
            return import_module(f"forebay.{name}")
        if name not in _HOME:
            from forebay.errors import nearest

            hint = _INSTEAD.get(name) or nearest(name, [*__all__, *_ROOMS])
            raise AttributeError(f"module 'forebay' has no attribute {name!r}: {hint}")
        module, attribute = _HOME[name]
        return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted((*__all__, *_ROOMS))
