"""Slow twin of the genetic search: selections are tuples of 0 and 1, and everything is looked at anew.

It draws the same random numbers in the same order; `pareto` needs none, it looks at every selection there is.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Window:
    """The jobs to choose from, and what is free."""

    demands: list[tuple[int, ...]]
    room: tuple[int, ...]
    waste: tuple[int, ...] = ()
    small: tuple[int, ...] = ()
    free_small: int = 0
    step: int = 0
    limits: int = 0  # how many of the last resources do not count

    def total(self, column, chosen):
        return sum(amount for amount, taken in zip(column, chosen, strict=True) if taken)

    def loads(self, chosen):
        return [self.total([row[r] for row in self.demands], chosen) for r in range(len(self.room))]

    def fits(self, chosen):
        return all(load <= have for load, have in zip(self.loads(chosen), self.room, strict=True))

    def point(self, chosen):
        """What is to be large."""
        loads = self.loads(chosen)[: len(self.room) - self.limits]
        if not self.waste:
            return tuple(loads)
        missing = max(0, self.total(self.small, chosen) - self.free_small)
        return (*loads, -(self.total(self.waste, chosen) + self.step * missing))

    def only(self, jobs):
        """A selection of these jobs."""
        return tuple(int(i in jobs) for i in range(len(self.demands)))


def dominates(a, b):
    return a != b and all(x >= y for x, y in zip(a, b, strict=True))


def best(window, selections):
    """Those that none of them dominates, in order."""
    points = [window.point(chosen) for chosen in selections]
    kept = []
    for chosen, point in zip(selections, points, strict=True):
        if not any(dominates(other, point) for other in points):
            kept.append(chosen)
    return kept


def front(window, selections):
    """[(objectives, bits)] of the best of them: largest first, and of equal ones the one with the first jobs."""
    found = {}
    for chosen in sorted(best(window, selections)):
        found[window.point(chosen)] = sum(1 << i for i, taken in enumerate(chosen) if taken)
    return sorted(found.items(), reverse=True)


def pareto(window):
    """The front of all selections that fit."""
    everything = itertools.product((0, 1), repeat=len(window.demands))
    return front(window, [chosen for chosen in everything if window.fits(chosen)])


def sizes(settings, genes):
    """Generations and population."""
    if not settings["coded"]:
        return settings["generations"], settings["population"]
    fewer = math.ceil(Fraction(2**genes, 10))
    return min(settings["generations"], fewer), sorted((10, math.ceil(Fraction(2**genes, 50)), 25))[1]


def below(n, rng):
    return int(rng.random() * n)


def shuffled(items, rng):
    """From the last place on, each changes with one before it or itself."""
    items = list(items)
    for i in reversed(range(1, len(items))):
        j = below(i + 1, rng)
        items[i], items[j] = items[j], items[i]
    return items


class Mutation:
    """Says of gene after gene whether it mutates; a number is drawn for how many do not."""

    def __init__(self, chance, rng):
        self.chance, self.rng = chance, rng
        self.pause = self.draw()

    def draw(self):
        if self.chance in (0, 1):
            return math.inf if self.chance == 0 else 0
        return math.floor(math.log(1 - self.rng.random()) / math.log1p(-self.chance))

    def strikes(self):
        if self.pause > 0:
            self.pause -= 1
            return False
        self.pause = self.draw()
        return True


class Search:
    """A search in a window: `members` is a list of (selection, generation in which it was made)."""

    def __init__(self, window, settings, rng):
        self.window, self.settings, self.rng = window, settings, rng
        self.genes = [i for i in range(len(window.demands)) if window.fits(window.only([i]))]
        self.generations, self.size = sizes(settings, len(self.genes))
        self.members = []
        if window.fits(window.only(self.genes)):
            self.generations = 0
            self.join(window.only(self.genes), 0)
        else:
            self.settle()
            self.mutation = Mutation(settings["mutation"], rng)
        self.survive()

    def join(self, chosen, generation):
        if self.window.fits(chosen) and chosen not in [member for member, _ in self.members]:
            self.members.append((chosen, generation))

    def settle(self):
        singles = self.genes if len(self.genes) <= self.size else shuffled(self.genes, self.rng)[: self.size]
        for i in singles:
            self.join(self.window.only([i]), 0)
        for _ in range(self.size - len(singles)):
            jobs = []
            for i in shuffled(self.genes, self.rng):
                if self.rng.random() < 0.5 and self.window.fits(self.window.only([*jobs, i])):
                    jobs.append(i)
            self.join(self.window.only(jobs), 0)

    def children(self):
        """As lists, to be mutated; a gene is a job that fits alone, all others are 0 in everyone."""
        parents = [list(chosen) for chosen, _ in shuffled(self.members, self.rng)]
        n_pairs = math.floor(Fraction(str(self.settings["pairs"])) * len(parents) / 2)
        children = []
        for a, b in zip(parents[0 : 2 * n_pairs : 2], parents[1 : 2 * n_pairs : 2], strict=True):
            n = len(self.genes)
            cut = self.genes[n // 2 if self.settings["middle"] else 1 + below(n - 1, self.rng)]
            children += [a[:cut] + b[cut:], b[:cut] + a[cut:]]
        return children

    def breed(self, generation):
        children = self.children()
        for child in children:
            for i in self.genes:
                if self.mutation.strikes():
                    child[i] = 1 - child[i]
        if children:
            for _ in range(math.floor(Fraction(str(self.settings["flips"])) * self.size)):
                child = children[below(len(children), self.rng)]
                i = self.genes[below(len(self.genes), self.rng)]
                child[i] = 1 - child[i]
        for child in children:
            self.join(tuple(child), generation)

    def survive(self):
        selections = best(self.window, [chosen for chosen, _ in self.members])
        kept = [member for member in self.members if member[0] in selections]
        others = [member for member in self.members if member[0] not in selections]
        while len(kept) > self.size:
            del kept[below(len(kept), self.rng)]
        self.members = (kept + sorted(others, key=lambda member: -member[1]))[: self.size]

    def front(self):
        return front(self.window, [chosen for chosen, _ in self.members])


def evolve_marked(window, settings, rng, marks):
    """The front after each of these generations, then the last one."""
    search = Search(window, settings, rng)
    fronts = [search.front()]
    for generation in range(1, search.generations + 1):
        search.breed(generation)
        search.survive()
        fronts.append(search.front())
    return [fronts[min(mark, search.generations)] for mark in marks], fronts[-1]


def evolve(window, settings, rng):
    return evolve_marked(window, settings, rng, [])[1]
