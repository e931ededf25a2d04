"""An index over a long line of jobs, to pass over stretches of it in which none can start.

The line is cut into blocks of 64 places, and these into groups of 64 blocks. Of a block, or a group, the index has a
row for each class of walltimes: up to 1 s, 2 s, 4 s, ... A row keeps the least that any of its jobs with so long a
walltime asks of each resource, and in its last column how many jobs were counted. Who leaves the line is not taken out:
the index then says too little, never too much, until the block is counted again.
"""

from forebay._numba.jit import kernel

PLACES = 64  # of a block
_GROUP = PLACES * 64
_CLASSES = 32  # of walltimes: the last holds all that are longer than 2^30 s
_NOBODY = 2**62
_HEAD = 1  # rows before the first group, for whoever keeps the index


def n_rows(n_places):
    """How many rows an index over so many places has: those of each group, then those of its blocks."""
    return _HEAD + (n_places // _GROUP + 1) * (1 + _GROUP // PLACES) * _CLASSES


@kernel
def walltime_class(seconds):
    """The first class whose walltimes are as long."""
    c, longest = 0, 1.0
    while c < _CLASSES - 1 and seconds > longest:
        longest *= 2.0
        c += 1
    return c


@kernel
def _group(place):
    return _HEAD + place // _GROUP * ((1 + _GROUP // PLACES) * _CLASSES)


@kernel
def _block(place):
    return _group(place) + (1 + place % _GROUP // PLACES) * _CLASSES


@kernel
def _clear(index, row):
    for k in range(row, row + _CLASSES):
        for r in range(index.shape[1] - 1):
            index[k, r] = _NOBODY
    index[row, index.shape[1] - 1] = 0


@kernel
def begin_block(index, place):
    """Nobody is counted in the block of a place; if it is the first of its group, nor in that."""
    _clear(index, _block(place))
    if place % _GROUP < PLACES:
        _clear(index, _group(place))


@kernel
def begin_group(index, place):
    """Nobody is counted in the group and the block of a place, wherever in it the line begins."""
    _clear(index, _group(place))
    _clear(index, _block(place))


@kernel
def _lower(index, row, c, demand):
    """Count a job in: from its class on, up to where nothing changes any more."""
    for k in range(row + c, row + _CLASSES):
        changed = False
        for r in range(len(demand)):
            if demand[r] < index[k, r]:
                index[k, r] = demand[r]
                changed = True
        if not changed:
            return


@kernel
def add(index, place, seconds, demand):
    """Count in the job that stands at a place."""
    c, block = walltime_class(seconds), _block(place)
    _lower(index, block, c, demand)
    _lower(index, _group(place), c, demand)
    index[block, index.shape[1] - 1] += 1


@kernel
def n_counted(index, place):
    """How many jobs were counted in the block of a place."""
    return index[_block(place), index.shape[1] - 1]


@kernel
def sum_up(index, place, first, last):
    """Make the rows of a place's group those of its blocks together; the line goes from `first` to before `last`."""
    begin = place - place % _GROUP
    group, end = _group(place), _block(min(begin + _GROUP, last) - 1)
    for k in range(_CLASSES):
        for r in range(index.shape[1] - 1):
            least = _NOBODY
            for row in range(_block(max(begin, first)), end + 1, _CLASSES):
                least = min(least, index[row + k, r])
            index[group + k, r] = least


@kernel
def _possible(index, row, c, free, spare):
    """Whether someone may be there who fits: with a walltime of class `c` at most, or into what is spare."""
    short, other, last = True, True, row + _CLASSES - 1
    for r in range(len(free)):
        short = short and index[row + c, r] <= free[r]
        other = other and index[last, r] <= free[r]
    for r in range(len(spare)):
        other = other and index[last, r] <= spare[r]
    return short or other


@kernel
def following(index, place, end, c, free, spare):
    """The first block from `place`, where one begins, that is not ruled out; `end` or beyond if all are."""
    while place < end:
        if place % _GROUP == 0 and not _possible(index, _group(place), c, free, spare):
            place += _GROUP
        elif not _possible(index, _block(place), c, free, spare):
            place += PLACES
        else:
            break
    return place
