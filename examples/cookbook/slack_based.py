"""Slack-based backfilling: a reservation may be moved later, but by no more than the slack of its job.

Talby and Feitelson, Supporting priorities and improving utilization of the IBM SP scheduler using slack-based
backfilling, IPPS/SPDP 1999. A job's slack is `slack` times its wait until the start that it is promised when it comes,
and `least` seconds at least.
"""

import numpy as np

import forebay as fb


class SlackBased(fb.Policy):
    def __init__(self, slack: float = 0.5, least: float = 600.0):
        self.slack, self.least = slack, least

    def setup(self, view: fb.View) -> None:
        self.latest = np.full(len(view.jobs), np.nan)  # that each may begin

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        line, profile = view.queue, view.profile()
        fit, new = profile.earliest_each(line) == view.now, np.isnan(self.latest[line])
        if not (fit | new).any():
            return
        starts = profile.plan(line)
        promised = np.where(starts < np.inf, starts - view.now, 0.0)  # who can never start is promised nothing
        slack = np.maximum(self.slack * promised, self.least)
        self.latest[line[new]] = (starts + slack)[new]
        bound = np.maximum(self.latest[line], starts)
        for job in line[fit]:
            others = line != job
            begins = profile.plan(np.concatenate(([job], line[others])))
            if begins[0] == view.now and (begins[1:] <= bound[others]).all():
                act.start(job, beside=profile)
                line, bound = line[others], bound[others]
