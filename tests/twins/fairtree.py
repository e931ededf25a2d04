"""The slow twin of fair share over a tree: Slurm's descriptions word by word, with nested lists and recursion.

A node is (name, shares, usage) for a user, or (name, shares, [nodes]) for an account; shares may be "parent".
"""

import math


def is_user(node):
    return not isinstance(node[2], list)


def used(node):
    return node[2] if is_user(node) else sum(map(used, node[2]))


def lifted(nodes):
    """The nodes, with accounts of their parents' shares replaced by what is in them."""
    found = []
    for node in nodes:
        if not is_user(node) and node[1] == "parent":
            found += lifted(node[2])
        else:
            found.append(node if is_user(node) else (*node[:2], lifted(node[2])))
    return found


def parts(nodes):
    """Of each node, its part of the shares and of the usage of all."""
    shares = sum(node[1] for node in nodes if node[1] != "parent")
    usage = sum(map(used, nodes))
    for node in nodes:
        part = None if node[1] == "parent" else node[1] / shares if shares else 0.0
        yield node, part, used(node) / usage if usage else 0.0


def level_fs(shares, usage):
    if shares is None:
        return math.inf
    return 0.0 if shares == 0 else shares / usage if usage else math.inf


def count(nodes):
    return sum(1 if is_user(node) else count(node[2]) for node in nodes)


def fair_tree(nodes):
    """Factors by path. Ranks fall from user to user; users equal to the sibling before keep the rank before."""
    nodes = lifted(nodes)
    n = count(nodes)
    state, found = {"rank": n, "left": n}, {}

    def visit(nodes, path, tied):
        levels = [(level_fs(shares, usage), node) for node, shares, usage in parts(nodes)]
        order = sorted(levels, key=lambda pair: (-pair[0], not is_user(pair[1])))  # stable
        before = None
        for k, (level, node) in enumerate(order):
            alike = tied if k == 0 else level == before
            before = level
            if not is_user(node):
                visit(node[2], (*path, node[0]), alike)
                continue
            if not alike:
                state["rank"] = state["left"]
            found[*path, node[0]] = state["rank"] / n
            state["left"] -= 1

    visit(nodes, (), False)
    return found


def fair_share(nodes, dampening=1.0):
    """The older algorithm: 2^(-effective usage / normalised shares)."""
    nodes, found = lifted(nodes), {}
    total = sum(map(used, nodes))

    def factor(shares, usage):
        return 2 ** (-usage / shares / dampening) if shares > 0 else 0.0

    def visit(nodes, path, shares, effective, top):
        for node, part, _ in parts(nodes):
            usage = used(node) / total if total else 0.0
            own, its = shares, effective
            if part is not None:
                own, its = shares * part, usage if top else usage + (effective - usage) * part
            if is_user(node):
                found[*path, node[0]] = factor(own, its)
            else:
                visit(node[2], (*path, node[0]), own, its, False)

    visit(nodes, (), 1.0, 1.0 if total else 0.0, True)
    return found
