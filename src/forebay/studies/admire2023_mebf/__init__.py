"""ADMIRE's deliverable D3.3 (2023), section 4.1: malleable EASY backfilling (MEBF).

Sections: `published` (Figs 4.1 to 4.5: MEBF against EASY backfilling, by application and number of jobs), `choices`
(what the text leaves open, varied) and `beyond` (policies that it does not compare with).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "malleable EASY backfilling (MEBF) against EASY backfilling at fixed sizes, Figs 4.1 to 4.5"
SECTIONS = ("published", "choices", "beyond")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.admire2023_mebf import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [_report.OURS]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
