"""Runs that begin alike begin from copies of one block, which know where their tables are."""

import copy
import pickle

import numba
import numpy as np
import pytest

import forebay as fb
from forebay._numba.pointer import laid_out
from forebay._run.case import case_of
from forebay.core.tables import State
from forebay.engine.build.table_roles import BUFFERS, READ_ONLY, walk
from forebay.engine.policy_io.needs import NO_WISHES
from forebay.engine.truth import Truth

pytestmark = pytest.mark.small


@pytest.fixture
def ground():
    return case_of("table1", None, "fcfs-bb", 0, None, None).ground


def everything(state, truth):
    return [*walk(state, ""), *walk(truth, "truth")]


def test_copies_are_as_what_was_built(ground):
    built = ground.built(ground.site, NO_WISHES)[:2]
    for (name, table), (_, copied) in zip(everything(*built), everything(*ground.tables()[:2]), strict=True):
        assert (copied.dtype, copied.shape) == (table.dtype, table.shape), name
        for column in () if name in BUFFERS else table.dtype.names or (...,):
            np.testing.assert_array_equal(copied[column], table[column], err_msg=f"{name} {column}")


def test_copies_share_what_no_run_changes_and_nothing_else(ground):
    for (name, one), (_, other) in zip(*(everything(*ground.tables()[:2]) for _ in range(2)), strict=True):
        assert np.shares_memory(one, other) == (name in READ_ONLY and one.size > 0), name


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there are no pointers")
def test_a_copy_knows_where_its_tables_are(ground):
    for tables in ground.tables()[:2]:
        assert tables.layout.tolist() == laid_out(tables).tolist()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tables: pickle.loads(pickle.dumps(tables))])
def test_who_copies_a_copy_finds_no_addresses_of_it(ground, copied):
    assert [type(copied(tables)) for tables in ground.tables()[:2]] == [State, Truth]
    assert all(getattr(copied(tables), "layout", None) is None for tables in ground.tables()[:2])


def test_results_do_not_keep_the_block():
    result = fb.simulate("table1")
    left = result.__dict__["_make"].args[0]
    assert sum(table.nbytes for table in (left.jobs, left.links)) < 10_000
    for table in (left.jobs, left.links):
        base = table.base
        assert base is None or base.nbytes == table.nbytes
