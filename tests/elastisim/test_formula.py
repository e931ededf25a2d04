"""Formulas: ElastiSim's arithmetic, its way of putting arguments in, and what is said of mistakes."""

import numpy as np
import pytest

from forebay.elastisim import formula
from forebay.elastisim.formula import FormulaError, checked, parsed, substituted

pytestmark = pytest.mark.small

NODES = {"num_nodes": np.array([1.0, 2.0, 3.0])}


def value(text):
    return float(parsed(text).values({}))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7", 7),
        ("1e9", 1e9),
        ("2.5E-3", 0.0025),
        (".5", 0.5),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("24 / 4 / 2", 3),
        ("2^3^2", 512),
        ("-2^2", -4),
        ("2^-1*4", 2),
        ("- -3", 3),
        ("5 - -3", 8),
        ("7 % 4", 3),
        ("-7 % 4", -3),  # of the sign of what is divided, as in C
        ("1 < 2", 1),
        ("2 <= 1", 0),
        ("1 + 1 == 2", 1),
        ("1 = 1", 1),
        ("1 <> 1", 0),
        ("1 != 2 and 3 > 2", 1),
        ("0 or 0", 0),
        ("1 | 0 & 0", 1),
        ("not 0", 1),
        ("not(2) + 5", 5),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 > 2 ? 4 : 5", 5),
        ("(0 ? 2 : 3) * 2", 6),
        ("if(1 > 2, 3, 4)", 4),
        ("min(3, 1, 2) + max(3, 1, 2)", 4),
        ("abs(-3) + floor(2.7) + ceil(2.2)", 8),
        ("round(2.5) + round(-2.5) + round(2.4)", 2),
        ("trunc(-2.7)", -2),
        ("sqrt(16) + pow(2, 3) + exp(0)", 13),
        ("log2(8) + log10(100) + log(1)", 5),
    ],
)
def test_arithmetic(text, result):
    assert value(text) == pytest.approx(result, rel=1e-15)


def test_all_numbers_of_nodes_at_once():
    found = checked("12/num_nodes^2 + (num_nodes > 1 ? 1 : 0)", NODES, {}).values(NODES)
    assert found.tolist() == [12, 4, 12 / 9 + 1]


def test_a_choice_hides_what_it_does_not_take():
    found = checked("num_nodes == 1 ? 0 : 1/(num_nodes - 1)", NODES, {}).values(NODES)
    assert found.tolist() == [0, 1, 0.5]


def test_what_is_no_number_is_told_as_such():
    assert np.isinf(value("1/0"))
    assert np.isnan(value("sqrt(0 - 1)"))
    assert np.isnan(value("0 % 0"))


def test_arguments_are_put_in_as_text_and_in_the_order_of_their_names():
    assert substituted("work * 2", {"work": "-3"}) == "-3 * 2"
    assert substituted("work * workers", {"work": "3"}) == "3 * 3ers"
    assert substituted("b", {"a": "7", "b": "a"}) == "a"
    assert substituted("a", {"a": "b", "b": "7"}) == "7"
    assert substituted("num_nodes", {"num": "5"}) == "5_nodes"
    assert value(substituted("2 - x^2", {"x": "-3"})) == 2 - -9


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "ends too early"),
        ("1 +", "ends too early"),
        ("(1", "ends too early where '\\)' should stand"),
        ("1 2", "has '2'"),
        ("3ers", "has 'ers'"),
        ("1 ? 2", "where ':' should stand"),
        ("* 2", "has '\\*'"),
        ("a := 1", "has ':'"),
        ("'text'", 'has "\'", which means nothing here'),
        ("x; y", "has ';'"),
        ("x.y", "has '.'"),
        ("x[0]", "has '\\['"),
        ("num_node", "unknown name 'num_node'; did you mean 'num_nodes'"),
        ("flosp", "unknown name 'flosp'; did you mean 'flops'"),
        ("__import__(1)", "unknown function '__import__'; known: abs"),
        ("eval(1)", "unknown function 'eval'"),
        ("open", "unknown name 'open'"),
        ("min", "has 'min' without"),
        ("min()", "has '\\)'"),
        ("pow(1)", "gives 1 argument to pow, which takes 2"),
        ("and 1", "has 'and' without"),
        ("1" + "+1" * 1000, "has 2,001 characters; write 2,000 at most"),
        ("(" * 51 + "1" + ")" * 51, "nests deeper than 50"),
        ("-" * 60 + "1", "nests deeper than 50"),
        ("2" + "^2" * 60, "nests deeper than 50"),
        ("1?" * 60 + "1" + ":1" * 60, "nests deeper than 50"),
    ],
)
def test_mistakes(text, complaint):
    with pytest.raises(FormulaError, match=complaint):
        checked(text, NODES, {"flops": "1"})


def test_long_formulas_without_nesting_are_fine():
    assert value("1" + "+1" * 999) == 1000


def test_arguments_cannot_make_a_formula_grow_without_end():
    arguments = {chr(97 + k): chr(98 + k) * 10 for k in range(20)}
    with pytest.raises(FormulaError, match="grows beyond 2,000 characters"):
        substituted("a", arguments)


def test_a_formula_is_parsed_once():
    assert formula.parsed("1 + num_nodes") is formula.parsed("1 + num_nodes")
