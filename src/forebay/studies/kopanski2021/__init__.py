"""Kopański & Rządca (2021), "Plan-based Job Scheduling for Supercomputers with Shared Burst Buffers".

Sections: `parts` (four of their 16 parts of three weeks, with their own files), `choices` (the same with reservations
and buffers of another kind), `full-log` (the whole KTH log) and `sixteen` (all of its parts), these two with
burst-buffer requests drawn by their model; and `better`: ours.
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "plan-based scheduling with shared burst buffers: parts of the KTH log, the full log, Figs 1 to 12"
SECTIONS = ("parts", "choices", "full-log", "sixteen", "better")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.kopanski2021 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [] if scope.files is not None else [_report.MADE_UP]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
