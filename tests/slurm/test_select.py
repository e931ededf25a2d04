"""Whether nodes are shared, and by what rule."""

import pytest

NODES = "NodeName=n[1-4] CPUs=8 RealMemory=1000\n"


@pytest.mark.parametrize(
    ("text", "sharing", "placement", "memory"),
    [
        ("SelectType=select/linear\n", False, "best-fit", False),
        ("SelectType=select/cons_tres\n", True, "best-fit", True),  # CR_Core_Memory is the default
        ("SelectType=select/cons_res SelectTypeParameters=CR_Core\n", True, "best-fit", False),
        ("SelectType=select/cons_tres SelectTypeParameters=CR_CPU_Memory,CR_LLN\n", True, "worst-fit", True),
        ("SelectType=select/cons_tres SelectTypeParameters=CR_Pack_Nodes\n", True, "best-fit", True),
        ("SelectType=select/cray_aries SelectTypeParameters=other_cons_res,CR_Core\n", True, "best-fit", False),
        ("SelectType=select/cray_aries\n", False, "best-fit", False),
        ("SelectType=select/cons_tres\nPartitionName=a Nodes=ALL OverSubscribe=EXCLUSIVE\n", False, "best-fit", True),
        ("SelectType=select/cons_tres\nPartitionName=a Nodes=ALL LLN=YES\n", True, "worst-fit", True),
    ],
)
def test_by_select_type(told, text, sharing, placement, memory):
    lines = text.split("\n")
    made = told(f"{lines[0]}\n{NODES}" + "\n".join(lines[1:])).selection
    assert (made.sharing, made.placement, made.memory) == (sharing, placement, memory)


def test_a_node_of_one_core_has_nothing_to_share(told):
    assert not told("SelectType=select/cons_tres\nNodeName=n[1-4] CPUs=1\n").selection.sharing


def test_what_is_assumed_or_not_modelled_is_told(told):
    made = told(
        "SelectTypeParameters=CR_Socket\nNodeName=n CPUs=8 ThreadsPerCore=2\n"
        "PartitionName=a Nodes=n OverSubscribe=EXCLUSIVE\nPartitionName=b Nodes=n OverSubscribe=FORCE:4\n"
    )
    words = ("SelectType is not set", "CR_Socket", "threads", "OverSubscribe=EXCLUSIVE): a", "OverSubscribe=FORCE:4")
    for word in words:
        assert any(word in note for note in made.notes), word
