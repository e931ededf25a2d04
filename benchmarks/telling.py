"""What it costs a policy in Python to be told what running jobs do: `python benchmarks/telling.py`.

The KTH log with I/O on dragonfly-96, first come first served: without asking, asking and not looking, and looking at
a link, at all running jobs and at all links in every decision. Microseconds a decision, the best of three runs each.
"""

import time

import bench

import forebay as fb
from forebay.workload import operations


class Fcfs(bench.Fcfs):
    """Asks for nothing."""


class Asks(Fcfs):
    """Is told, and does not look."""

    needs = ("io",)


class Jobs(Asks):
    """Looks at the phase and rate of every running job."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """As the others."""
        for job in view.running["job"].tolist():
            view.activity(job)
        super().decide(view, act)


class Link(Asks):
    """Looks at one link and one tier."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """As the others."""
        view.link("pfs")
        view.tier("burst_buffer")
        super().decide(view, act)


class Links(Asks):
    """Looks at every link."""

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        """As the others."""
        assert view.links
        super().decide(view, act)


def main() -> None:
    """A line a policy."""
    workload = bench.kth_io()
    if workload is None:
        raise SystemExit("the log is not here: set FOREBAY_DATA")
    workload = operations.first(workload, 2_000)
    hashes, spent = set(), {}
    for _ in range(3):  # in turns: a machine has its moments
        for policy in (Fcfs, Asks, Link, Jobs, Links):
            begun = time.process_time()
            result = fb.simulate(workload, policy=policy(), progress=False)
            seconds = time.process_time() - begun
            hashes.add(result.facts["log_sha256"])
            spent[policy] = min(spent.get(policy, seconds), seconds)
    decisions = result.facts["decisions"]
    assert len(hashes) == 1, "who looks must not change the run"
    print(f"{len(workload):,} jobs, {decisions:,} decisions")
    for policy, seconds in spent.items():
        print(f"{policy.__doc__:60} {seconds / decisions * 1e6:6.1f} us a decision, {seconds / spent[Fcfs]:.2f} x")


if __name__ == "__main__":
    main()
