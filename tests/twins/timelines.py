"""The slow twin of timelines: what is free on a node at a time, added up from all that is taken."""


def free_at(full, rows, k, time):
    taken = [some for line, begin, length, some in rows if line == k and begin <= time < begin + length]
    return [have - sum(some[d] for some in taken) for d, have in enumerate(full)]
