"""Lists of nodes, against names written out."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.core.hostlist import compress, expand
from forebay.errors import InputError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[1,3,7-8]", ["n1", "n3", "n7", "n8"]),
        ("a1,b[2-3],c", ["a1", "b2", "b3", "c"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("login.example.org, n4", ["login.example.org", "n4"]),
        ("", []),
    ],
)
def test_a_list_has_the_names_that_slurm_gives_it(text, names):
    assert expand(text, "here") == names


@pytest.mark.parametrize("text", ["n[3-1]", "n[a-b]", "n[1-2", "n]1[", "n[]", "a b", "n[1--2]", "n[1-2]]", "n[0x3]"])
def test_what_is_no_list_is_refused_with_its_place(text):
    with pytest.raises(InputError, match=r"^here: "):
        expand(text, "here")


def test_a_list_of_too_many_nodes_is_refused_before_it_is_written_out():
    with pytest.raises(InputError, match="more than 1,000,000 nodes"):
        expand("n[0-999999999]m[0-999999999]", "here")


LETTERS = st.sampled_from(["n", "cpu", "r1i", "a-b"])


@given(st.lists(st.tuples(LETTERS, st.integers(0, 30), st.integers(1, 4)), max_size=20, unique=True))
def test_a_list_made_short_reads_back(parts):
    names = [f"{letters}{number:0{width}}" for letters, number, width in parts]
    assert expand(compress(names, most=100), "here") == names


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(1, 3))
def test_brackets_are_a_product(first, more, others, width):
    left = [f"{number:0{width}}" for number in range(first, first + more + 1)]
    text = f"r[{left[0]}-{left[-1]}]n[0-{others}]"
    assert expand(text, "") == [f"r{a}n{b}" for a, b in product(left, range(others + 1))]


def test_a_long_list_is_cut_for_people():
    assert compress([f"n{k}" for k in range(0, 40, 2)], most=2) == "n0,n2,... (20 in all)"
