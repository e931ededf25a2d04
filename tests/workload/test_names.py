"""Names of users, queues and the like: kept by every format, told apart in joins, asked for in filters."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay
from forebay import metrics
from forebay.errors import InputError
from forebay.workload import operations as op
from forebay.workload import read, write
from forebay.workload.anonymity import anonymise
from forebay.workload.names import called, column_of, numbered
from forebay.workload.workload import Workload, job_table

HEAD = "JobID|User|Account|Partition|QOS|Submit|Start|ElapsedRaw|Timelimit|NNodes"
JANUARY = (
    "1|ann|physics|cpu|normal|2025-01-01T00:00:00|2025-01-01T00:01:00|3600|02:00:00|2",
    "2|bob|physics|gpu|high|2025-01-02T00:00:00|2025-01-02T00:00:30|1800|02:00:00|1",
    "3|ann|chemistry|gpu|normal|2025-01-03T00:00:00|2025-01-03T00:00:00|60|01:00:00|4",
)
FEBRUARY = (
    "4|bob|chemistry|gpu|high|2025-02-01T00:00:00|2025-02-01T00:01:00|7200|03:00:00|3",
    "5|cem|physics|cpu|normal|2025-02-02T00:00:00|2025-02-02T00:00:30|600|00:30:00|1",
    "6|ann|physics|debug|normal|2025-02-03T00:00:00|2025-02-03T00:00:00|300|00:30:00|2",
)


def month(folder, name, rows, head=HEAD):
    path = folder / f"{name}.sacct"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return read(path)


def named(w, column):
    """The name of each job."""
    return dict(zip(w.jobs["id"], column_of(w.jobs, w.names, column), strict=True))


def tables(users, names):
    jobs = job_table(
        {
            "id": range(1, len(users) + 1),
            "submit": range(len(users)),
            "walltime": [60] * len(users),
            "run_time": [30] * len(users),
            "nodes": [1] * len(users),
            "user": users,
        }
    )
    return Workload("w", jobs, names={"user": names} if names else {})


@pytest.fixture
def months(tmp_path):
    return month(tmp_path, "january", JANUARY), month(tmp_path, "february", FEBRUARY)


@pytest.mark.small
def test_joined_months_keep_who_is_who(months):
    january, february = months
    assert january.names["user"] == {1: "ann", 2: "bob"}
    assert february.names["user"] == {1: "bob", 2: "cem", 3: "ann"}  # the same numbers for other people
    both = op.join(months)
    assert named(both, "user") == {1: "ann", 2: "bob", 3: "ann", 4: "bob", 5: "cem", 6: "ann"}
    assert named(both, "queue") == {1: "cpu", 2: "gpu", 3: "gpu", 4: "gpu", 5: "cpu", 6: "debug"}
    assert named(both, "account")[4] == "chemistry"
    assert named(both, "qos")[5] == "normal"
    assert any("joined by name" in note for note in both.notes)


@pytest.mark.parametrize("column", ["user", "queue", "group", "account"])
def test_groups_of_joined_months_are_the_sums_of_the_parts(months, column):
    def totals(*ws):
        frames = [metrics.by_column(forebay.simulate(w, "flat:nodes=8", "fcfs-easy"), column) for w in ws]
        keys = [frame.select(pl.col(f"{column}_name").alias("name"), "n", "node_hours") for frame in frames]
        return pl.concat(keys).group_by("name").sum().sort("name").rows()

    assert totals(op.join(months)) == totals(*months)


@pytest.mark.small
def test_user_ids_stay_where_both_months_agree(tmp_path):
    head = "JobID|UID|User|Submit|ElapsedRaw|NNodes"
    one = month(tmp_path, "one", ["1|500|bob|100|60|1", "2|501|ann|200|60|1"], head)
    two = month(tmp_path, "two", ["3|501|ann|300|60|1", "4|777|cem|400|60|1"], head)
    both = op.join([one, two])
    assert both.jobs["user"].to_list() == [500, 501, 501, 777]
    assert both.names["user"] == {500: "bob", 501: "ann", 777: "cem"}
    assert not any("numbered again" in note for note in both.notes)


@pytest.mark.small
def test_a_part_without_names_is_not_taken_for_another(tmp_path):
    one = tables([1, 2], {1: "ann", 2: "bob"})
    two = replace(tables([1, 3], {}), epoch=100.0, name="numbers")
    both = op.join([one, two])
    assert sorted(named(both, "user").values()) == ["1", "3", "ann", "bob"]
    assert any("numbers alone in numbers" in note for note in both.notes)


people = st.lists(st.sampled_from(["ann", "bob", "cem", "12", "7"]), min_size=1, max_size=6)


@pytest.mark.small
@given(st.lists(people, min_size=1, max_size=4))
def test_a_join_never_changes_whose_job_it_is(parts):
    ws, wanted = [], []
    for k, who in enumerate(parts):
        users, names = numbered(who, {})
        ws.append(replace(tables(users, names), epoch=1000.0 * k))
        wanted += who
    both = op.join(ws)
    assert [called(both.names, "user", number) for number in both.jobs["user"]] == wanted


@pytest.mark.small
@pytest.mark.parametrize("suffix", [".parquet.zip", ".json", ".sacct", ".swf"])
def test_formats_keep_names(months, tmp_path, suffix):
    w = months[0]
    path = tmp_path / f"again{suffix}"
    notes = write(w, path)
    again = read(path)
    for column in ("user", "group", "queue") + (() if suffix == ".swf" else ("account", "qos")):
        assert named(again, column) == named(w, column)
    assert again.jobs["recorded_start"].to_list() == w.jobs["recorded_start"].to_list()
    assert any("account of 3 jobs is not written" in note for note in notes) == (suffix == ".swf")


ODD = ["bob smith", 'a "quoted" one', "back\\slash", "(paren)", "\x1b[31mred", "ümlaut", "tab\there", "ann;bob", "7"]


@pytest.mark.small
@pytest.mark.parametrize("suffix", [".parquet.zip", ".json", ".swf"])
def test_odd_names_survive(tmp_path, suffix):
    w = tables(range(len(ODD)), dict(enumerate(ODD)))
    write(w, tmp_path / f"odd{suffix}")
    assert list(named(read(tmp_path / f"odd{suffix}"), "user").values()) == ODD


@pytest.mark.small
def test_sacct_refuses_a_name_that_would_break_its_lines(tmp_path):
    w = tables([0], {0: "a|b"})
    with pytest.raises(InputError, match=r"the user 'a\|b' cannot be written.*parquet.zip"):
        write(w, tmp_path / "x.sacct")
    assert not (tmp_path / "x.sacct").exists()


@pytest.mark.small
def test_queues_of_an_archive_header_are_read(tmp_path):
    path = tmp_path / "a.swf"
    line = "{} {} 5 60 1 -1 -1 1 60 -1 1 3 4 -1 {} -1 -1 -1\n"
    head = "; Queue:  0  interactive  \n; Queue: 1 batch (all others)\n; Queue: nonsense\n; Queue: 9 nobody\n"
    path.write_text(head + line.format(1, 0, 0) + line.format(2, 9, 1))
    assert read(path).names == {"queue": {0: "interactive", 1: "batch"}}


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("queue==gpu", [2, 3]),
        ("queue != gpu", [1]),
        ("user==bob", [2]),
        ("user=='ann'", [1, 3]),
        ("account==chemistry", [3]),
        ("qos!=normal", [2]),
        ("user==1", [1, 3]),  # a number still is one
    ],
)
def test_filters_by_name(months, text, kept):
    w = months[0]
    left = op.filter_jobs(w, op.parse_condition(text, w.jobs.columns, w.names), text)
    assert left.jobs["id"].to_list() == kept
    assert set(left.names["user"].values()) == {named(w, "user")[job] for job in kept}


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("queue==gpuu", "no queue is called 'gpuu'; did you mean 'gpu'"),
        ("queue<gpu", "== and != alone"),
        ("nodes==gpu", "not a number"),
        ("queue==", "not a condition"),
    ],
)
def test_filters_that_cannot_be(months, text, why):
    w = months[0]
    with pytest.raises(InputError, match=why):
        op.parse_condition(text, w.jobs.columns, w.names)


@pytest.mark.small
def test_a_filter_by_name_on_a_trace_of_numbers_says_so():
    w = tables([1, 2], {})
    with pytest.raises(InputError, match="no names of its users"):
        op.parse_condition("user==bob", w.jobs.columns, w.names)


@pytest.mark.small
def test_a_name_is_found_as_a_screen_shows_it():
    w = tables([1, 2], {1: "\x1b[31mred", 2: "bob"})
    condition = op.parse_condition(r"user==\x1b[31mred", w.jobs.columns, w.names)
    assert op.filter_jobs(w, condition).jobs["id"].to_list() == [1]


@pytest.mark.small
def test_anonymised_jobs_have_no_names(months, tmp_path):
    w = anonymise(months[0])
    assert w.names == {}
    assert sorted(w.jobs["account"].unique()) == [1, 2]
    write(w, tmp_path / "a.json")
    content = (tmp_path / "a.json").read_text()
    assert not any(word in content for word in ("ann", "bob", "physics", "gpu", "high"))


@pytest.mark.small
def test_numbers_of_a_table_take_the_names_away(months):
    given_ = pl.DataFrame({"id": [1, 2, 3], "user": [9, 8, 7]})
    w = op.attach_table(months[0], given_, "users.csv")
    assert "user" not in w.names
    assert "queue" in w.names
    assert any("names of user are left out" in note for note in w.notes)


@pytest.mark.small
@pytest.mark.parametrize("names", [{"user": {1: " "}}, {"user": {-1: "bob"}}, {"nodes": {1: "one"}}, {"qos": {1: "x"}}])
def test_names_that_are_none(names):
    with pytest.raises(InputError, match="name"):
        replace(tables([1], {}), names=names)


@pytest.mark.small
@pytest.mark.parametrize(
    "names", ['{"user": {"1": ""}}', '{"user": {"x": "bob"}}', '{"user": 3}', "[]", '{"nodes": {}}']
)
def test_names_in_json_that_are_none(tmp_path, names):
    path = tmp_path / "a.json"
    job = '{"id": 1, "subtime": 0, "walltime": 60, "res": 1, "profile": "p", "user": 1}'
    path.write_text(f'{{"names": {names}, "jobs": [{job}], "profiles": {{"p": {{"type": "delay", "delay": 5}}}}}}')
    with pytest.raises(InputError, match=r"a\.json: 'names'"):
        read(path)


def test_results_have_names_beside_numbers(months, tmp_path):
    forebay.simulate(months[0], "flat:nodes=8", "fcfs-easy").save(tmp_path / "out")
    jobs = forebay.load(tmp_path / "out").jobs
    assert jobs["user_name"].to_list() == ["ann", "bob", "ann"]
    assert jobs["queue_name"].to_list() == ["cpu", "gpu", "gpu"]
    assert jobs["recorded_start"].to_list() == [60, 86430, 172800]
    heaviest = metrics.by_user(forebay.load(tmp_path / "out")).row(0, named=True)
    assert (heaviest["user_name"], heaviest["n"]) == ("ann", 2)


@pytest.mark.small
def test_a_machine_that_was_in_use_is_found_anew(tmp_path):
    """Of january a job of 2 nodes still runs when one of 3 starts in february: 5 are in use."""
    head = "JobID|User|Submit|Start|ElapsedRaw|NNodes"
    one = month(tmp_path, "one", ["1|ann|1000|1000|500|2"], head)
    two = month(tmp_path, "two", ["2|ann|1200|1400|500|3", "3|bob|1900|1900|10|1"], head)
    both = op.join([one, two])
    assert (one.platform, two.platform, both.platform) == ("flat:nodes=2", "flat:nodes=3", "flat:nodes=5")
    assert sum("most nodes in use at once" in note for note in both.notes) == 1
