"""ADMIRE's deliverable D3.3 (2023), section 3.2.4: Hercules, an ad-hoc file system that grows while it is in use.

Sections: `published` (Figs. 3.4 and 3.5, by the model of throughput: nothing is simulated), `validation` (the same
gains, foretold by fits that have not seen them), `machine` (beyond the text:
from which share of I/O on does it pay to give nodes to such file systems, on a machine where jobs wait for nodes?) and
`variations` (the same under other loads, policies, jobs and servers).
"""

from forebay.studies._frame import Options, Plan

DESCRIPTION = (
    "a file system on a job's nodes or borrowed ones: malleable Hercules, Figs. 3.4 and 3.5; when nodes for it pay"
)
SECTIONS = ("published", "validation", "machine", "variations")


def plan(options: Options) -> Plan:
    """The runs of the sections wanted, and the report on them."""
    from functools import partial

    from forebay.studies.hercules2023 import _plan, _report

    scope = _plan.scope(options, SECTIONS)
    notes = [_report.FITTED]
    return Plan(scope.settings.title, scope.sections, _plan.runs(scope), partial(_report.report, scope), notes)
