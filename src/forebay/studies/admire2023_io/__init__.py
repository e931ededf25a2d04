"""ADMIRE's deliverable D3.3 (2023), section 4.2: the I/O-intensity-aware scheduler.

Sections: `published` (Figs 4.9 to 4.13), `bound` (the same where streams have ElastiSim's windows), `choices` (what the
text leaves open: what the workload's intensity is, and when jobs come) and `beyond` (an alpha that adapts; I/O weighed
by backfilling and plans).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "jobs that write much beside jobs that do not: ADMIRE's I/O-intensity-aware scheduler, Figs 4.9 to 4.13"
SECTIONS = ("published", "bound", "choices", "beyond")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.admire2023_io import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [_report.UNPUBLISHED]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
