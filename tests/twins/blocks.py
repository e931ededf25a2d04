"""Nodes by blocks of neighbours, from the description, with lists."""


def blocks(nodes):
    """Runs of neighbours, as lists, by their lowest node."""
    runs = []
    for node in sorted(nodes):
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def best(nodes, count):
    """The smallest block that is large enough, or else the largest; the lowest of equals."""
    runs = blocks(nodes)
    enough = [run for run in runs if len(run) >= count]
    if enough:
        return min(enough, key=len)
    return max(runs, key=len, default=[])


def pick(nodes, count):
    """So many nodes, block by block, the lowest of each first; fewer if there are not as many."""
    left, picked = set(nodes), set()
    while len(picked) < count and left:
        taken = best(left, count - len(picked))[: count - len(picked)]
        picked |= set(taken)
        left -= set(taken)
    return picked
