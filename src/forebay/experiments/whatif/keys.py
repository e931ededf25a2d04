"""What a key such as bf_window, weights.Age, limits.qos.normal.MaxJobsPerUser or classes.gpu.nodes changes of a site.

A function for each kind of key. Each gives what the same edit of the platform's file, by hand, would give.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from forebay import policies
from forebay._run.labels import with_parameters
from forebay.core.units import parse_bytes
from forebay.errors import InputError, nearest
from forebay.platforms import NodeClass, Partition, Platform, Rule
from forebay.platforms.rules import KEYS as LIMITS
from forebay.platforms.rules import WHO, limit_called
from forebay.platforms.tiers import shared_bb
from forebay.platforms.variation import known_to, quantity, varied

_WEIGHT = "PriorityWeight"
_NONE = ("none", "unlimited", "infinite", "-1")
"""Values that take a limit away."""
_BUFFER = "burst-buffer"
_OF_CLASS = ("nodes", "cores", "memory", "gpus", "weight")
_OF_PARTITION = ("max_time", "max_nodes", "max_jobs", "priority_tier", "state", "default")


@dataclass(frozen=True)
class Site:
    """What a what-if may change: the machine with all that its file says, and the policy."""

    platform: Platform
    policy: str  # its spec; empty for an object, which cannot be changed


def changed(site: Site, key: str, value: str) -> Site:
    """The site with another value; an error that names the key, and what is near it, where that cannot be."""
    change = _KINDS.get(key.partition(".")[0]) or (_of_machine if _folded(key) in _machine(site) else _of_scheduler)
    try:
        return change(site, key, value)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith("--vary") else f"--vary {key}={value}: {text}") from None


def _unknown(site: Site, key: str) -> InputError:
    words = [*_machine(site), *_parameters(site)]
    words += [f"weights.{name.removeprefix(_WEIGHT)}" for name in _parameters(site) if name.startswith(_WEIGHT)]
    words += [f"classes.{one.name}.{field}" for one in site.platform.classes for field in _OF_CLASS]
    words += [f"partitions.{one.name}.{field}" for one in site.platform.partitions for field in _OF_PARTITION]
    words += [f"limits.{_whose(rule)}.{limit}" for rule in site.platform.limits for limit in _limits_of(rule)]
    return InputError(f"--vary {key}: {site.platform.name} has nothing of this name; {nearest(key, set(words))}")


def _of_scheduler(site: Site, key: str, value: str) -> Site:
    """A parameter of the policy."""
    known = {name.lower(): name for name in _parameters(site)}
    if "." in key or key.lower() not in known:
        raise _unknown(site, key)
    policy = with_parameters(site.policy, {known[key.lower()]: value})
    policies.load(policy)
    return replace(site, policy=policy)


def _weight(site: Site, key: str, value: str) -> Site:
    """What a factor counts for in the priorities of jobs: weights.Age is the parameter PriorityWeightAge."""
    name = f"{_WEIGHT}{key.partition('.')[2]}"
    if name.lower() not in map(str.lower, _parameters(site)):
        raise _unknown(site, key)
    return _of_scheduler(site, name, value)


def _of_machine(site: Site, key: str, value: str) -> Site:
    """Nodes, or the room or the bandwidth of a tier of storage; a burst buffer also where the site has none."""
    added = _folded(key) == _BUFFER and _lacks_buffer(site.platform)
    found = None if added else quantity(site.platform, key)
    amount = parse_bytes(value) if found is None else found.parse(value)
    if not amount > 0:
        raise InputError(f"{value} is none; write an amount above 0")
    if found is None:
        tiers = (*site.platform.tiers, shared_bb.Tier(name="burst_buffer", capacity=round(amount)))
        return _made(site, tiers=tiers)
    return replace(site, platform=varied(site.platform, {found.name: amount}))


def _of_class(site: Site, key: str, value: str) -> Site:
    """How many nodes a class has, or what is in each of them."""
    name, field = _named(key)
    if field not in _OF_CLASS or name not in [one.name for one in site.platform.classes]:
        raise _unknown(site, key)
    if field == "nodes":
        return _of_machine(site, key, value)
    return _with(site, "classes", name, lambda one: NodeClass.model_validate({**_values(one), field: value}))


def _of_partition(site: Site, key: str, value: str) -> Site:
    """What a partition allows, and its state."""
    name, given = _named(key)
    field = {one.replace("_", ""): one for one in _OF_PARTITION}.get(given.lower().replace("_", ""), "")
    if not field or name not in [one.name for one in site.platform.partitions]:
        raise _unknown(site, key)
    new = {field: _value_for_partition(field, value)}
    return _with(site, "partitions", name, lambda one: Partition.model_validate({**_values(one), **new}), field)


def _value_for_partition(field: str, text: str) -> Any:
    if text.lower() in _NONE:
        return None
    if field == "max_time":  # also as Slurm writes times
        return Rule.model_validate({"partition": "any", "max_wall": text}).max_wall
    return int(text) if field == "priority_tier" and text.isdecimal() else text


def _limit(site: Site, key: str, value: str) -> Site:
    """A limit of a user, an account, a QOS, a partition or a group: limits.qos.normal.MaxJobsPerUser."""
    kind, _, rest = key.partition(".")[2].partition(".")
    kind, (name, _, given) = kind.lower(), rest.rpartition(".")
    field = limit_called(given)
    if kind not in WHO or not name:
        raise InputError(f"--vary {key}: write limits.KIND.NAME.LIMIT, where KIND is one of {', '.join(WHO)}")
    if field is None:
        raise InputError(f"--vary {key}: {given!r} is no limit; {nearest(given, LIMITS.values())}")
    who = {"queue" if kind == "partition" else kind: name}
    mine = [rule for rule in site.platform.limits if rule.who == who]
    rule = next((rule for rule in mine if LIMITS[field] in rule.described()), mine[0] if mine else None)
    now = {kind: name} if rule is None else rule.described()
    new = {word: one for word, one in now.items() if word != LIMITS[field]}
    new |= {} if value.lower() in _NONE else {LIMITS[field]: value.replace("+", ",")}
    if not any("Submit" in word for word in new):
        new.pop("over_submit", None)
    made = (Rule.model_validate(new),) if new.keys() & set(LIMITS.values()) else ()
    rules = list(site.platform.limits)
    place = len(rules) if rule is None else next(k for k, one in enumerate(rules) if one is rule)
    rules[place : place + 1] = made
    return _made(site, limits=tuple(rules))


_KINDS: Mapping[str, Callable[[Site, str, str], Site]] = {
    "weights": _weight,
    "limits": _limit,
    "partitions": _of_partition,
    "classes": _of_class,
}


def _machine(site: Site) -> list[str]:
    return [*known_to(site.platform), *([_BUFFER] if _lacks_buffer(site.platform) else [])]


def _lacks_buffer(platform: Platform) -> bool:
    return all(_folded(tier.name) != _BUFFER for tier in platform.tiers)


def _folded(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _parameters(site: Site) -> list[str]:
    return policies.parameters(site.policy) if site.policy else []


def _named(key: str) -> tuple[str, str]:
    """The name and the field of classes.NAME.FIELD; names may have dots."""
    name, _, field = key.partition(".")[2].rpartition(".")
    return name, field


def _whose(rule: Rule) -> str:
    return ".".join(f"{'partition' if kind == 'queue' else kind}.{name}" for kind, name in rule.who.items())


def _limits_of(rule: Rule) -> list[str]:
    return [word for word in rule.described() if word in LIMITS.values()]


def _values(one: Any) -> dict[str, Any]:
    return {field: getattr(one, field) for field in type(one).model_fields}


def _with(site: Site, word: str, name: str, change: Callable[[Any], Any], field: str = "") -> Site:
    """The site with one of its classes or partitions changed; another default takes the place of the one there is."""
    some = [change(one) if one.name == name else one for one in getattr(site.platform, word)]
    if field == "default":
        some = [one if one.name == name else one.model_copy(update={"default": False}) for one in some]
    return _made(site, **{word: tuple(some)})


def _made(site: Site, **parts: Any) -> Site:
    return replace(site, platform=Platform.model_validate({**_values(site.platform), **parts}))
