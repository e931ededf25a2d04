"""Which policies a comparison is of: names, specs, families, all; and the reference among them."""

from forebay.errors import InputError

ALL = "all"


def wanted(text: str | None) -> tuple[list[str], list[str]]:
    """Policies that are named, and those that are meant: by `all` or a family, or if none is named."""
    from forebay.policies import COMPARED, family_of, names

    if text is None:
        return [], list(COMPARED)
    given, implied = [], []
    for spec in split_specs(text):
        family = names() if spec == ALL else [name for name in names() if family_of(name) == spec]
        if family:
            implied += [name for name in family if name not in implied]
        else:
            given.append(spec)
    return given, [name for name in implied if name not in given]


def with_reference(given: list[str], implied: list[str], reference: str | None) -> str | None:
    """The reference that --reference names, added to the given policies; None without that option."""
    from forebay._plugins import spelled

    if reference is None:
        return None
    spec = spelled("policies", reference.strip())
    if spec not in given:
        given.append(spec)
        if spec in implied:
            implied.remove(spec)
    return spec


def split_specs(text: str) -> list[str]:
    """The policies in `fcfs,fcfs-bb:depth=3,max_backfill=10,filler`: key=value goes on with the one before it."""
    from forebay._plugins import spelled

    specs: list[str] = []
    for item in (item.strip() for item in text.split(",")):
        if not item:
            raise InputError(f"--policies {text!r} names an empty policy; write names with a comma between two")
        if "=" not in item or ":" in item.partition("=")[0]:
            specs.append(spelled("policies", item))
        elif specs and ":" in specs[-1]:
            specs[-1] += f",{item}"
        else:
            raise InputError(f"--policies {text!r}: {item!r} belongs to no policy; write NAME:{item}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"--policies {text!r} names {spec!r} twice; keep one")
    return specs
