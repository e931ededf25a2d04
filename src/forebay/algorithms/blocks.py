"""Nodes picked by blocks of neighbours: the tightest block that is large enough, or the largest ones until it is.

So Slurm's select plug-ins pick nodes that are all alike, where no network topology is configured.
"""

from forebay._numba.jit import kernel


@kernel
def best_block(words, count):
    """The first node and the length of the block to take nodes from; of blocks that are as good, the lowest."""
    best, best_size, low, size = -1, 0, 0, 0
    for node in range(32 * len(words) + 1):
        if node < 32 * len(words) and (words[node >> 5] >> (node & 31)) & 1:
            low, size = node if size == 0 else low, size + 1
            continue
        if size > 0:
            enough = size >= count
            if best_size == 0 or (size < best_size if enough and best_size >= count else size > best_size):
                best, best_size = low, size
        size = 0
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
        for node in range(low, low + some):
            words[node >> 5] &= ~(1 << (node & 31))
            picked[node >> 5] |= 1 << (node & 31)
        count -= some
    return count
