"""What tiers of one machine may not be together."""

from forebay.core.kinds import LARGE, WASTE
from forebay.platforms.storage import files_of, stores_of
from forebay.platforms.tiers._base import BaseTier


def one_chunked(tiers: tuple[BaseTier, ...]) -> None:
    """Only one tier can be chunked, the one that staging uses: chunks are placed together with nodes."""
    chunked, buffer = [tier.name for tier in tiers if tier.chunked], stores_of(tiers)[:1]
    if len(chunked) > 1:
        raise ValueError(f"{' and '.join(chunked)} are chunked, but only one tier may be; make the others pooled")
    if chunked and buffer[0].name != chunked[0]:
        raise ValueError(
            f"{chunked[0]} is chunked, but staging uses the first burst buffer, {buffer[0].name}; "
            f"write {chunked[0]} before it, or make it pooled"
        )


def one_file_system(tiers: tuple[BaseTier, ...]) -> None:
    """Phases read from it and write to it without a name, and what policies may choose is staged from it."""
    files = [tier.name for tier in tiers if tier.files]
    if len(files) > 1:
        raise ValueError(
            f"{' and '.join(files)} are both file systems, and phases do not say which; keep one "
            "(others, faster but of limited room, may be tiers of kind fast)"
        )
    chosen = next((tier.name for tier in tiers if tier.by_choice), None)
    if chosen is not None and not files:
        raise ValueError(f"{chosen} has no file system to be staged from; add a tier of kind slow, or pfs")


def one_of_two_kinds(tiers: tuple[BaseTier, ...]) -> None:
    """Only one tier can make nodes of two kinds; what is counted and weighed of them has names that none may take."""
    names = [tier.name for tier in tiers]
    for name in names:
        for word in (LARGE, WASTE):
            if name + word in names:
                raise ValueError(
                    f"{name + word} means something of {name} where nodes are of two kinds; give it another name"
                )
    two = [tier.name for tier in tiers if tier.two_kinds]
    if len(two) > 1:
        raise ValueError(f"{' and '.join(two)} have two sizes, but only one tier may; leave out large in the others")
    chunked = [tier.name for tier in tiers if tier.chunked]
    if two and chunked:
        raise ValueError(
            f"{two[0]} has two sizes, but {chunked[0]} is chunked, and chunks go by nodes that are all alike; "
            f"make {chunked[0]} pooled, or leave out large in {two[0]}"
        )


def whole_lanes(tiers: tuple[BaseTier, ...]) -> None:
    """A file system to which a job is one stream needs a buffer that takes the job's data in one."""
    files, stores = files_of(tiers), stores_of(tiers)
    reason = stores[0].several_streams if stores else None
    if files is not None and files.door().into.whole and reason is not None:
        raise ValueError(
            f"{files.name} takes a job as one stream, but {stores[0].name} {reason}, "
            "or have a file system of kind pfs without per_job"
        )
