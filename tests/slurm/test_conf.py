"""The syntax of slurm.conf: comments, continued lines, quotes, includes, DEFAULT, names in any case, slips."""

import pytest

from forebay.errors import InputError
from forebay.slurm.sources import conf
from forebay.slurm.sources.record import Kind


@pytest.fixture
def read(tmp_path):
    def make(text, **included):
        for name, content in included.items():
            (tmp_path / f"{name}.conf").write_text(content)
        path = tmp_path / "slurm.conf"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return conf.read(path)

    return make


def settings(source):
    return {key: value for one in source.records if one.kind is Kind.SETTING for key, value in one.values.items()}


def test_case_of_keys_comments_blanks_and_quotes(read):
    source = read('#ClusterName=no\nCLUSTERname = brook # ours\n\n  Licenses="a:1, b:2" SELECTTYPE=select/linear\n')
    assert settings(source) == {"clustername": "brook", "licenses": "a:1, b:2", "selecttype": "select/linear"}
    assert source.notes == []


def test_a_hash_that_is_meant_stays(read):
    assert settings(read("ClusterName=a\\#b # c\n")) == {"clustername": "a#b"}


def test_continued_lines_are_one_and_have_the_number_of_the_first(read):
    source = read(
        "ClusterName=a\nSchedulerParameters=bf_interval=30,\\\n  bf_continue,\\\n  defer\n"
        "PartitionName=x \\\n Nodes=n1\n"
    )
    assert settings(source)["schedulerparameters"] == "bf_interval=30,bf_continue,defer"
    assert source.records[-1].values == {"name": "x", "nodes": "n1"}
    assert source.records[-1].where.endswith("slurm.conf:5")


def test_the_later_of_two_values_counts_and_lines_end_in_any_way(read):
    assert settings(read(b"ClusterName=a\r\nClusterName=b\rMailProg=c")) == {"clustername": "b", "mailprog": "c"}


def test_defaults_hold_for_later_lines_only_and_add_up(read):
    source = read(
        "NodeName=a CPUs=1\nNodeName=DEFAULT CPUs=2 Feature=x\nNodeName=b\n"
        "nodename=default Feature=y\nNodeName=c CPUs=3\nPartitionName=p Nodes=a\n"
    )
    values = [dict(one.values) for one in source.records]
    assert values == [
        {"name": "a", "cpus": "1"},
        {"name": "b", "cpus": "2", "feature": "x"},
        {"name": "c", "cpus": "3", "feature": "y"},
        {"name": "p", "nodes": "a"},
    ]


def test_included_files_stand_where_they_are_named(read):
    source = read(
        "ClusterName=brook\nInclude nodes.conf\ninclude /etc/slurm/%c.conf\nPartitionName=p Nodes=ALL\n",
        nodes="NodeName=DEFAULT CPUs=4\nNodeName=a\n",
        brook="NodeName=b\n",
    )
    assert [one.values["name"] for one in source.records[1:]] == ["a", "b", "p"]
    assert source.records[2].values["cpus"] == "4"
    assert source.records[2].where.endswith("brook.conf:1")


def test_files_that_include_one_another_are_refused(read):
    with pytest.raises(InputError, match=r"b\.conf:1: includes slurm\.conf, which includes this file"):
        read("Include a.conf\n", a="Include b.conf\n", b="Include slurm.conf\n")


def test_a_file_may_be_included_twice(read):
    assert len(read("Include a.conf\nInclude a.conf\n", a="NodeName=n CPUs=1\n").records) == 2


def test_a_missing_include_is_named_with_its_line(read):
    with pytest.raises(InputError, match=r"slurm\.conf:2: includes '/etc/slurm/nodes\.conf', which is not there; copy"):
        read("ClusterName=a\nInclude /etc/slurm/nodes.conf\n")


def test_unknown_keys_are_named_and_the_rest_is_read(read):
    source = read("ClusterNam=a\nFlavour=sweet\nNodeName=n CPUs=2 Colour=red\nPartitionName=p Nodess=n\n")
    assert source.notes == [
        "slurm.conf: 'ClusterNam' is no key of slurm.conf: did you mean ClusterName?",
        "slurm.conf: 'Flavour' is no key of slurm.conf: passed over",
        "slurm.conf: 'Colour' is no key of slurm.conf: passed over",
        "slurm.conf: 'Nodess' is no key of slurm.conf: did you mean Nodes?",
    ]
    assert [one.kind for one in source.records[2:]] == [Kind.NODE, Kind.PARTITION]


def test_keys_behind_a_misspelt_one_are_known_and_in_the_wrong_line(read):
    assert read("NodeName=n CPUs=2\nPartitonName=p Nodes=n\n").notes == [
        "slurm.conf: 'PartitonName' is no key of slurm.conf: did you mean PartitionName?",
        "slurm.conf: 'Nodes' does not belong into its line: passed over",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ClusterName=a\nhello there\n", r"slurm\.conf:2: 'hello there' is not Key=Value"),
        ("NodeName=n CPUs 4\n", r"slurm\.conf:1: 'CPUs 4' is not Key=Value"),
        ("PartitionName= \n", r"slurm\.conf:1: the partition has no name"),
        (b"ClusterName=\0", r"slurm\.conf: not text"),
        ("Include %c.conf\n", "no ClusterName stands before it"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(read, text, what):
    with pytest.raises(InputError, match=what):
        read(text)


def test_comments_in_an_older_code_do_no_harm(read):
    assert settings(read("ClusterName=a # f\xfcr uns\n".encode("latin-1"))) == {"clustername": "a"}
