"""Fan et al. (2019), "Scheduling Beyond CPUs for HPC": BBSched chooses among the first jobs of the queue.

Sections: `example` (the paper's motivating example), `workloads` (S1 to S4, Theta's jobs with large requests, under
every method), `ssd` (S5 to S7, on nodes with local SSDs of two sizes) and `fronts` (how much of the exact Pareto front
the genetic algorithm finds).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "a window of jobs chosen by multi-objective optimisation, against naive, weighted, constrained, packing"
SECTIONS = ("example", "workloads", "ssd", "fronts")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.bbsched2019 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [] if scope.trace is not None else [_report.MADE_UP]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
