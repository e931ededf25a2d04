"""Lackner, Fard & Wolf (2019), "Efficient Job Scheduling for Clusters with Shared Tiered Storage": SAS.

Sections: `random` (Fig. 3: SAS against tiers drawn at random), `staging` (Fig. 4: slower and faster staging),
`mistakes` (Fig. 5: users who do not know what their jobs move), `beyond` (shared links estimated, and plans) and
`sensitivity` (what the paper does not say, varied).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = "wait for fast storage or run on slow storage: SAS against tiers drawn at random"
SECTIONS = ("random", "staging", "mistakes", "beyond", "sensitivity")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.sas2019 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [_report.UNPUBLISHED]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
