"""Covers: a policy of one's own in plain Python, with a parameter; naming it on the command line.

Scenario: small jobs first, whoever fits: by walltime alone, or by walltime times nodes to some power. The mean wait
falls, and the longest wait tells who pays for it. The same from a shell:
`forebay run default --policy examples/own_policy.py:SmallFirst:weight=1`.
"""

import forebay as fb


class SmallFirst:
    """Start whoever fits, smallest walltime x nodes^weight first."""

    def __init__(self, weight: float = 0.0):
        self.weight = weight

    def decide(self, view, act):
        def size(job):
            return view.walltime(job) * float(view.demand(job)[0]) ** self.weight

        for job in sorted(view.queue, key=size):
            if act.fits(job):
                act.start(job)


if __name__ == "__main__":
    for policy in ("filler", SmallFirst(0.0), SmallFirst(0.5), SmallFirst(1.0)):
        summary = fb.summary(fb.simulate(fb.read("default"), policy=policy))
        name = policy if isinstance(policy, str) else f"weight {policy.weight}"
        mean, longest = summary["mean_waiting_time"] / 3600, summary["max_waiting_time"] / 86400
        print(f"{name:10} mean wait {mean:5.1f} h, longest {longest:4.1f} d")
