"""What the shell offers at a tab: names of policies, platforms, studies, workloads and the like.

Where nothing here matches, the shell goes on with files.
"""

import glob
import os
from collections.abc import Callable, Iterable

Completion = Callable[[str], list[str]]


def _starting(names: Iterable[str], begun: str) -> list[str]:
    return [name for name in names if name.startswith(begun)]


def plugins(group: str) -> Completion:
    """The names of a group of plug-ins."""

    def complete(incomplete: str) -> list[str]:
        from forebay import _plugins

        return _starting(_plugins.names(group), incomplete)

    return complete


def listed(one: Completion) -> Completion:
    """Several with commas: the last is completed."""

    def complete(incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",")
        return [f"{done}{comma}{name}" for name in one(begun)]

    return complete


policy = plugins("policies")
policies = listed(policy)
platform = plugins("platforms.presets")
job_model = plugins("engine.jobmodels")
model = plugins("workload.models")
study = plugins("studies")


def _failure(incomplete: str) -> list[str]:
    from forebay.platforms.failures import PARAMETERS

    return _starting((f"{name}=" for name in PARAMETERS), incomplete)


failures = listed(_failure)


def _elastisim_output(incomplete: str) -> list[str]:
    from forebay.elastisim.outputs import WRITERS

    return _starting(WRITERS, incomplete)


elastisim_outputs = listed(_elastisim_output)


def figure(incomplete: str) -> list[str]:
    """The figures that `plot` draws."""
    from forebay.experiments.swept.figure import FIGURES

    return [name for name in plugins("figures")(incomplete) if name != "panels"] + _starting(FIGURES, incomplete)


def width(incomplete: str) -> list[str]:
    """Those of papers."""
    from forebay.figures._look import WIDTHS

    return _starting(WIDTHS, incomplete)


def workload(incomplete: str) -> list[str]:
    """Embedded workloads, and files that begin alike: a shell that is given names offers no files of its own."""
    found = plugins("workload.embedded")(incomplete)
    if found and incomplete:
        found += [path for path in sorted(glob.glob(glob.escape(incomplete) + "*")) if os.path.isfile(path)]
    return found


def suffix(incomplete: str) -> list[str]:
    """Endings of files that can be written."""
    from forebay import _plugins

    group = "workload.formats"
    known = (_plugins.load(group, name, "format").SUFFIXES for name in _plugins.names(group))
    return _starting((one for suffixes in known for one in suffixes), incomplete)
