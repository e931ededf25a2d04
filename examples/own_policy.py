"""Covers: a policy of one's own in plain Python, with parameters; naming it on the command line.

Scenario: short jobs first, wherever they fit, brings the mean wait down and lets some wait for a week. So a job loses
urgency with its walltime and gains it as it waits; and one that has waited for `patience` hours is served next: until
it can start, others start only if they are due to end before. The same from a shell:
`forebay run default --policy examples/own_policy.py:Patient:patience=96`.
"""

import forebay as fb

HOUR = 3600.0


class Patient:
    """Short jobs first, but no job waits much longer than `patience` hours."""

    def __init__(self, patience: float = 96.0):
        self.patience = patience

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        def waited(job: int) -> float:
            return float(view.now - view.jobs["submit"][job])

        line = sorted(view.queue, key=lambda job: view.walltime(job) / (waited(job) + 600))
        deadline = float("inf")
        for job in view.queue:  # in order of arrival
            if waited(job) < self.patience * HOUR:
                break
            line.remove(job)
            if not act.fits(job):
                deadline = view.earliest(job)
                break
            act.start(job)
        for job in line:
            if view.now + view.walltime(job) <= deadline and act.fits(job):
                act.start(job)


if __name__ == "__main__":
    for policy in ("fcfs-bb", "sjf-bb", Patient(1000), Patient(96), Patient(48), Patient(36)):
        summary = fb.summary(fb.simulate(fb.read("default"), policy=policy))
        name = policy if isinstance(policy, str) else f"patience {policy.patience:g} h"
        mean, longest = summary["mean_wait"] / HOUR, summary["max_wait"] / (24 * HOUR)
        slowdown = summary["mean_bounded_slowdown_10min"]
        print(f"{name:15} mean wait {mean:.2f} h, longest {longest:.1f} d, bounded slowdown {slowdown:5.2f}")
