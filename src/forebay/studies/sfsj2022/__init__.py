"""Du, Marchal, Pallez & Robert (2022), in ADMIRE's deliverable D3.3 (2023), section 3.1: Steal From Small Jobs (SFSJ).

Sections: `toy` (Table 3.1 and Fig. 3.1), `published` (a load like Mira's under failures, with and without stealing),
`loads` (other loads), `variants` (whom to rob, and when: all 18) and `beyond` (checkpoints through the file system,
malleable victims, stealing over EASY backfilling).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "a failed job takes nodes from a small running one: SFSJ against conservative backfilling, Table 3.1"
SECTIONS = ("toy", "published", "loads", "variants", "beyond")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.sfsj2022 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [_report.OURS]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
