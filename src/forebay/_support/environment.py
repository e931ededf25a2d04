"""The surroundings of processes: variables that count while one is started, and one thread for tables."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

ONE_THREAD = {"POLARS_MAX_THREADS": "1"}


@contextmanager
def variables(**values: str) -> Iterator[None]:
    """Environment variables that are as they were afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def use_one_thread() -> None:
    """One thread for tables in this process, as in those it starts: sums of floats are then the same in each.

    Without effect if polars has been used already.
    """
    with variables(**ONE_THREAD):
        import polars as pl

        pl.thread_pool_size()  # made when first asked for
