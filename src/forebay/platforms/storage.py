"""What each of a machine's tiers is to jobs: the file system, the buffer they stage to, the ways in which they run."""

from collections.abc import Sequence

from forebay.platforms.tiers._base import BaseTier


def files_of(tiers: Sequence[BaseTier]) -> BaseTier | None:
    """The file system; a machine has one at most."""
    return next((tier for tier in tiers if tier.files), None)


def stores_of(tiers: Sequence[BaseTier]) -> tuple[BaseTier, ...]:
    """The buffer that jobs stage to, then others that they may be run on.

    A second burst buffer is counted but carries nothing: phases name no buffer, and nothing chooses between them.
    """
    best = max((tier.buffers for tier in tiers), default=0)
    if best == 0:
        return ()
    buffer = next(tier for tier in tiers if tier.buffers == best)
    return (buffer, *(tier for tier in tiers if tier.by_choice and tier.buffers and tier is not buffer))


def ways_of(tiers: Sequence[BaseTier]) -> tuple[BaseTier, ...]:
    """The tiers that a job can run on where the policy chooses: the file system, then stores."""
    files = files_of(tiers)
    return () if files is None else (files, *(tier for tier in stores_of(tiers) if tier.may_run_on))
