"""Forked processes. The threads of polars stay behind in the parent, and a child that needs them waits for ever."""

import os

from forebay.errors import ForebayError


class _Process:
    """Whether this process has used polars, and whether one that had was forked to make it."""

    used = False
    orphaned = False


def check() -> None:
    """Called where work begins: refuse it in a child that could only hang."""
    if _Process.orphaned:
        raise ForebayError(
            "this process was forked after its parent had used forebay, and would wait for ever for threads that are "
            'not there; make processes with multiprocessing.get_context("spawn"), or before forebay is first used'
        )
    _Process.used = True


def _in_child() -> None:
    _Process.orphaned = _Process.orphaned or _Process.used


if hasattr(os, "register_at_fork"):  # there is no fork elsewhere
    os.register_at_fork(after_in_child=_in_child)
