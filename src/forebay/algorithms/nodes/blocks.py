"""Nodes picked by blocks of neighbours: the tightest block that is large enough, or the largest ones until it is.

So Slurm's select plug-ins pick nodes that are all alike, where no network topology is configured.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.bits import fill, next_run, wipe

FROM_ZERO = True


@kernel
def best_block(words, count):
    """The first node and the length of the block to take nodes from; of blocks that are as good, the lowest."""
    best, best_size = -1, 0
    low, behind = next_run(words, 0)
    while low >= 0:
        size = behind - low
        enough = size >= count
        if best_size == 0 or (size < best_size if enough and best_size >= count else size > best_size):
            best, best_size = low, size
        low, behind = next_run(words, behind)
    return best, best_size


@kernel
def pick_blocks(words, count, picked):
    """Move `count` nodes from `words` to `picked`, each time from the best block, its lowest first; how many are left.

    `picked` is empty before.
    """
    while count > 0:
        low, size = best_block(words, count)
        if size == 0:
            break
        some = min(size, count)
        wipe(words, low, some)
        fill(picked, low, some)
        count -= some
    return count
