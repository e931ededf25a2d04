"""Servers of jobs, in results."""

import numpy as np
import polars as pl

from forebay.engine.driver.history import Record
from forebay.engine.results.left import Left, mean_nodes


def servers_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """The nodes on which each job computes, and how many others served it on average; None if nobody has servers."""
    if left.compute_nodes is None:
        return None
    # A mean of n nodes may be less than n in its last bits.
    servers = np.maximum(mean_nodes(left, record) - left.compute_nodes, 0.0)
    return pl.DataFrame({"compute_nodes": left.compute_nodes, "mean_servers": pl.Series(servers).fill_nan(None)})
