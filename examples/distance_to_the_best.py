"""Covers: bounds, the exact optimum, gaps of policies.

Scenario: eight jobs on four nodes with a burst buffer. How far is each policy from what any could do?
"""

import forebay as fb

least = fb.bounds("table1", metric="mean_wait", lp=True)
for row in least.table.iter_rows(named=True):
    print(f"{row['value']:6.1f} s  {row['bound']}")

results = [fb.simulate("table1", policy=name) for name in ("fcfs", "fcfs-easy", "fcfs-bb")]
for row in least.gaps(results).iter_rows(named=True):
    print(f"{row['policy']:9}  waits {row['value']:5.1f} s, {row['ratio']:.1f} times the bound")
