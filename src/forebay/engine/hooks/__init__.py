"""Where the core calls capabilities: a kernel for each hook, which calls those that have a part in it, in order.

`life` has what happens to a job, `phases` what stands between the phases of a leg, `instants` what the loop asks for,
`holds_back` what keeps jobs from starting. A capability's kernel first looks whether its tables have rows: a run
without it neither asks for more nor compiles it.
"""
