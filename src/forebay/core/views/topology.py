"""Where nodes stand in the network, for policies in plain Python."""

from typing import NamedTuple

import numpy as np


class Topology(NamedTuple):
    """Where nodes stand, by their numbers.

    Parameters
    ----------
    router
        Of each node, the router on which it hangs.
    group
        Of each node, the group of that router.
    hops
        From each router to each other, how many links the route between them crosses.
    """

    router: np.ndarray
    group: np.ndarray
    hops: np.ndarray

    def distance(self, one: int, other: int) -> int:
        """How many links between routers a transfer from one node to another crosses; 0 on the same router.

        Parameters
        ----------
        one
            A node, by its number.
        other
            Another one.
        """
        return int(self.hops[self.router[one], self.router[other]])
