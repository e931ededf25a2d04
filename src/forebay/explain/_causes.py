"""The causes of all waits: as the replay finds them, room on shared nodes, and what cannot be known."""

import numpy as np

from forebay.algorithms import waiting
from forebay.explain._replay import Scene
from forebay.explain._room import with_room
from forebay.explain._sound import check_sound

UNKNOWN = -1
"""The cause of a wait for a leg that never began, if nothing shows what it would have taken."""
_ANYWAY = (waiting.HELD, waiting.SAID)  # whatever the leg needs


def causes_of(found: Scene) -> np.ndarray:
    """Every piece of every wait, by job and time."""
    check_sound(found.replay)
    pieces: np.ndarray = waiting.causes(found.replay)
    table = found.waits.table
    short = np.flatnonzero(found.waits.short)
    more = np.zeros(len(short), waiting.PIECE)
    more["start"], more["end"], more["wait"] = table["since"][short], table["until"][short], short
    more["cause"], more["what"], more["other"] = waiting.FITS, -1, -1
    both = with_room(found, np.concatenate([pieces, more]))
    unknown = ~found.waits.known[both["wait"]] & ~np.isin(both["cause"], _ANYWAY)
    both["cause"][unknown], both["what"][unknown], both["other"][unknown] = UNKNOWN, -1, -1
    ordered: np.ndarray = both[np.lexsort((both["start"], table["job"][both["wait"]]))]
    return ordered
