"""Covers: reading a workload, simulating it under several policies, the job table, the summary.

Scenario: the embedded default workload on its own machine; does it pay to reserve burst buffer along with nodes?
"""

import forebay as fb

workload = fb.read("default")
print(f"{len(workload):,} jobs for {fb.platform(workload.platform or 'default')}")
for policy in ("fcfs-easy", "fcfs-bb", "sjf-bb"):
    result = fb.simulate(workload, policy=policy, seed=1)
    summary = fb.summary(result)
    hours = summary["mean_wait"] / 3600
    print(f"{policy:10} mean wait {hours:5.1f} h, nodes {summary['utilisation_nodes']:.0%} in use")

print(result.jobs.select("job_id", "waiting_time", "allocated_resources").head(3))
