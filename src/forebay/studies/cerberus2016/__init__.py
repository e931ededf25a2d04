"""Cerberus (2016), "A Parallelism Oriented Three Phase Based Burst Buffering Aware Scheduler" (a draft).

Sections: `march` (the model of the paper: I/O nodes only, one phase, three phases) and `april` (its authors' later
model, with knapsacks), both over many draws of volumes and arrivals; `replay` (per-job results of the authors, repeated
from their own inputs); `shared` (what is left of the gains where jobs share links).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from forebay.studies._frame import Options, Plan

if TYPE_CHECKING:
    from forebay.studies.cerberus2016._replay import Replayed

DESCRIPTION = "stage-in, run and stage-out scheduled apart, by knapsack: Intrepid jobs on Trinity, Figs 1 to 4"
SECTIONS = ("march", "april", "replay", "shared")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.cerberus2016 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [] if scope.trace is not None else [_report.MADE_UP]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)


def replay(path: str | Path, variant: str | None = None, trace: str | Path | None = None) -> "Replayed":
    """Completion times of a per-job file of the authors, ours and theirs, in the order of its rows.

    `variant` says what was run: its version (march or april) and its system (io, one-phase or three-phase), such as
    `march/three-phase`; by default as the file is called. `trace` is the log with the jobs' sizes and run times, by
    default the one in $FOREBAY_DATA.
    """
    from forebay.studies.cerberus2016 import _replay

    return _replay.replay(Path(path), variant, None if trace is None else Path(trace))
