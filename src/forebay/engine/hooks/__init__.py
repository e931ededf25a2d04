"""Where the core calls capabilities: a kernel for each hook, which calls those that have a part in it, in order.

`life` has what happens to a job, `instants` what the loop asks for. A capability's kernel first looks whether its
tables have rows: a run without it neither asks for more nor compiles it.
"""
