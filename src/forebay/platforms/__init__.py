"""Machines: declared in TOML or taken from a preset. `load` is `forebay.platforms`, the one door to both."""

import os
from pathlib import Path

from forebay import _plugins
from forebay.core.failures import Failures
from forebay.errors import InputError, wrong_type
from forebay.platforms import _presets
from forebay.platforms._declared import toml
from forebay.platforms.accounts import Account
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import Partition
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.platforms.rules import Rule

__all__ = ["Account", "Failures", "NodeClass", "Partition", "Platform", "Reservation", "Rule", "load", "names"]


def names() -> list[str]:
    """Every preset, as users write it.

    Examples
    --------
    >>> "dragonfly-96" in fb.platforms.names()
    True
    """
    return _plugins.names("platforms.presets")


def load(spec: str | os.PathLike[str] | Platform) -> Platform:
    """The machine that a spec names; `forebay.platform` is this function.

    Parameters
    ----------
    spec
        A preset with its parameters ("flat:nodes=100,burst_buffer=10TB", "table1") or a TOML file, whose nodes and tier
        capacities may be changed ("mine.toml:nodes=200,burst_buffer=20TB"). A Platform is returned as it is.

    Returns
    -------
    Platform

    Examples
    --------
    >>> machine = fb.platform("flat:nodes=100,burst_buffer=10TB")
    >>> machine
    <Platform flat: 100 nodes with burst_buffer>
    >>> machine.capacities
    (100, 10000000000000)
    """
    if isinstance(spec, Platform):
        return spec
    if not isinstance(spec, str | os.PathLike):
        raise wrong_type("the platform", spec, 'text such as "flat:nodes=100", a TOML file or a Platform')
    # os.path, unlike Path, takes text that is too long or too odd for a name as that of no file.
    if isinstance(spec, os.PathLike) or (spec.endswith(".toml") and os.path.exists(spec)):
        return toml.read(Path(spec), {})
    name, params = _plugins.parse_spec(spec)
    if name.endswith(".toml") or (name not in names() and os.path.isfile(name)):
        return toml.read(Path(name), params)
    if _plugins.find("platforms.presets", name) is None:
        raise InputError(f"{_plugins.unknown('platform', name, names())} (or give a file: mine.toml)")
    return _presets.make(_plugins.load("platforms.presets", name, "platform"), spec, params)
