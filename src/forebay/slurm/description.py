"""The door: files of a site in; a platform file, the parameters of its scheduler, and what is to note of both out."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forebay.slurm import limits, machine, scheduler, select, shares, toml
from forebay.slurm.machine import Machine
from forebay.slurm.scheduler import Parameters
from forebay.slurm.select import Selection
from forebay.slurm.site import Site
from forebay.slurm.sources.reading import read

_TAKEN = frozenset({"nodes", "cores", "memory", "gpus"})
"""Names of what a machine counts anyway."""


@dataclass(frozen=True)
class Description:
    """A site in forebay's words."""

    site: Site
    machine: Machine
    selection: Selection
    limits: tuple[dict[str, Any], ...]
    accounts: dict[str, dict[str, Any]]  # with their shares, by name
    parameters: Parameters  # of the scheduler, as slurm.conf names them
    notes: tuple[str, ...]

    def platform(self, head: str, policy: str = "") -> str:
        """The platform file; `head` stands in a comment at its beginning, and the policy is a spec of `parameters`."""
        text = toml.write(self.site, self.machine, self.selection, head, policy)
        return text + toml.tables(self.limits, self.accounts)

    @property
    def summary(self) -> str:
        """The machine in a few words."""
        return toml.summary(self.site, self.machine, self.selection)


def describe(paths: Sequence[str | os.PathLike[str]]) -> Description:
    """The site of slurm.conf and what Slurm's commands print of it: see `reading`."""
    return described(read(paths))


def described(site: Site) -> Description:
    """A site in forebay's words."""
    selection = select.selected(site)
    made = machine.make(site, selection.memory)
    tiers, renamed = _named_tiers(site)
    tables, left = limits.limits_of(site, tiers)
    parameters, remarks = scheduler.parameters_of(site)
    accounts, said = shares.accounts_of(site) if "charged" in parameters else ({}, [])
    changed = machine.renamed([*site.partitions, *(word for one in made.classes for word in one.node.features)])
    notes = (*site.notes, *selection.notes, *made.notes, *left, *remarks, *said, *changed, *renamed)
    return Description(site, made, selection, tuple(tables), accounts, parameters, tuple(dict.fromkeys(notes)))


def _named_tiers(site: Site) -> tuple[dict[str, str], list[str]]:
    """Give buffers and licences names that tiers may have: the first buffer is that of jobs, burst_buffer.

    Returns the names by Slurm's, and remarks on those that changed.
    """
    found: dict[str, str] = {}
    notes = []
    taken = set(_TAKEN)
    for kind, store, first in (("bb", site.buffers, "burst_buffer"), ("license", site.licences, "")):
        for place, (name, amount) in enumerate(list(store.items())):
            new = first if first and place == 0 else _fit(name)
            while new in taken:
                new = f"{new}_2"
            taken.add(new)
            del store[name]
            store[new] = amount
            found[f"{kind}/{name}"] = new
            if new != name:
                notes.append(f"{name} is the tier {new} of the platform file")
    return found, notes


def _fit(name: str) -> str:
    letters = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in name)
    return letters if letters[:1].isalpha() else f"pool_{letters}"
