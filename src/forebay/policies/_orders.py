"""Words that the queue policies and their kernel share."""

ALL = 2**53
"""'All of them', as a number that a float64 parameter holds exactly. Written `all` on the command line."""
ORDERS = ("arrival", "walltime", "priority", "nodes", "area", "user", "group", "queue")
"""What a queue can be sorted by; ties go to the lower job id. Walltime, nodes and area are those of the waiting leg."""
