"""Figures and tables of a sweep: what is drawn of which runs, in memory and from a folder under way."""

import matplotlib.pyplot as plt
import polars as pl
import pytest

import forebay as fb
from experiments.test_tidy import finished
from forebay.errors import InputError
from forebay.experiments.grid import runs_of
from forebay.experiments.statistics import spread
from forebay.experiments.store import Store
from forebay.experiments.swept import runs as swept
from forebay.experiments.swept.answer import Sweep
from forebay.experiments.swept.figure import Wanted, draw
from forebay.results import Record

pytestmark = pytest.mark.small

KEYS = {
    "workloads": ["table1"],
    "policies": ["fcfs-bb:depth={depth}", "filler"],
    "platforms": ["flat:nodes=4,burst_buffer={buffer}"],
    "seeds": 3,
    "reference": "filler",
    "parameters": {"depth": [1, 2, 8], "buffer": ["10TB", "20TB"]},
}


def wait(run):
    depth = run.tags["depth"] or 10
    return 3600.0 * depth * (2 if run.tags["buffer"] == "20TB" else 1) * (1 + run.seed)


@pytest.fixture(scope="module")
def ended():
    made = finished(KEYS, wait)
    return [(run, Record(record.document | {"key": run.key})) for run, record in made]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def data(ended, **wanted):
    return draw(swept.of(ended, len(ended)), Wanted(**wanted)).plan.data[""]


def test_lines_are_means_over_seeds_with_student_intervals(ended):
    rows = data(ended, figure="sweep-lines", x="depth")
    assert rows["panel"].unique(maintain_order=True).to_list() == ["buffer = 10TB", "buffer = 20TB"]
    one = rows.row(by_predicate=(pl.col("panel") == "buffer = 20TB") & (pl.col("x") == 2), named=True)
    seen = spread([3600.0 * 4 * k for k in (1, 2, 3)])
    assert (one["line"], one["n"], one["mean"], one["half_95"]) == ("fcfs-bb", 3, seen.mean, seen.half)
    level = rows.filter(pl.col("line") == "filler")
    assert level["x"].to_list() == [None, None], "the parameter does not change it: a level line"


def test_sizes_are_numbers_and_parameters_of_policies_alone_make_lines(ended):
    rows = data(ended, figure="sweep-lines", x="buffer")
    assert rows["x"].unique().sort().to_list() == [10e12, 20e12]
    assert rows["panel"].unique().to_list() == [""]
    assert rows["line"].unique(maintain_order=True).to_list() == [f"fcfs-bb:depth={n}" for n in (1, 2, 8)] + ["filler"]


def test_a_map_is_chosen_where_two_numbers_vary(ended):
    drawn = draw(swept.of(ended, len(ended)), Wanted())
    assert drawn.figure == "sweep-heatmap"
    rows = drawn.plan.data[""]
    assert rows.height == 12
    filler = rows.filter(pl.col("panel") == "filler")
    assert filler.group_by("y").agg(pl.col("mean").n_unique())["mean"].to_list() == [1, 1]
    assert drawn.caption == "mean wait over depth and buffer: means over 3 seeds"
    assert draw(swept.of(ended, len(ended)), Wanted(x="buffer")).figure == "sweep-lines"


def test_names_take_the_axis_where_no_number_varies():
    ended = finished({"workloads": ["table1", "default"], "policies": ["fcfs", "filler"]}, lambda run: 60.0)
    drawn = draw(swept.of(ended, len(ended)), Wanted())
    assert drawn.figure == "sweep-lines"
    assert drawn.plan.data[""]["x"].unique(maintain_order=True).to_list() == ["table1", "default"]
    assert drawn.caption == "mean wait over workload: a single seed, which has no interval"
    one = finished({"workloads": ["table1"], "policies": ["fcfs"]}, lambda run: 0.0)
    assert draw(swept.of(one, 1), Wanted()).caption == "mean wait: a single seed, which has no interval"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"metric": "mean_wiat"}, "no number 'mean_wiat': did you mean 'mean_wait'"),
        ({"x": "dept"}, "--x: runs do not differ in 'dept'; did you mean 'depth'"),
        ({"y": "bufer"}, "--y: runs do not differ in 'bufer'; did you mean 'buffer'"),
        ({"y": "policy"}, "policy is no number"),
        ({"x": "depth", "y": "depth"}, "--x and --y are both depth"),
        ({"figure": "sweep-line"}, "did you mean 'sweep-lines'"),
        ({"figure": "sweep-lines", "y": "depth"}, "--y is of sweep-heatmap"),
        ({"where": {"polcy": ["filler"]}}, "did you mean 'policy'"),
        ({"where": {"policy": ["fillr"]}}, "no run has policy='fillr': did you mean 'filler'"),
        ({"where": {"depth": ["1"]}, "figure": "sweep-heatmap"}, "a map is over two parameters that are numbers"),
        ({"where": {"depth": ["1"], "policy": ["filler"]}}, "no run has all of these values"),
    ],
)
def test_wrong_wishes(ended, wanted, message):
    with pytest.raises(InputError, match=message):
        draw(swept.of(ended, len(ended)), Wanted(**wanted))


def test_too_much_for_a_figure():
    keys = {"workloads": ["table1"], "policies": ["fcfs-bb:depth={depth}"], "parameters": {"depth": list(range(1, 15))}}
    ended = finished(keys, lambda run: 60.0)
    assert data(ended).height == 14
    keys |= {"platforms": ["flat:nodes={nodes},burst_buffer=20TB"]}
    keys["parameters"] = keys["parameters"] | {"nodes": [4, 8]}
    with pytest.raises(InputError, match="14 lines, and 12 can be distinguished"):
        data(finished(keys, lambda run: 60.0), x="nodes")


def test_the_answer_draws_and_writes_itself(ended, tmp_path):
    found = Sweep(ended, "depths")
    assert repr(found) == "<Sweep of 24 runs: 8 combinations, 3 seeds>"
    assert found.table.height == 24
    assert found.combinations["mean_wait_half_95"][0] == pytest.approx(spread([3600.0, 7200.0, 10800.0]).half)
    assert found.verdicts["reference"].unique().to_list() == ["filler"]
    axes = found.plot("sweep-lines", x="depth", width="ieee-column")
    assert axes[0].figure.get_figwidth() == 3.5
    assert axes[0].get_ylabel() == "mean wait (d)"
    assert axes[0].xaxis.label.get_fontsize() == 8
    assert len(found.plot()) == 2
    files = found.draw(tmp_path / "a.pdf", where={"policy": "filler"}, width="acm-column")
    assert [file.name for file in files] == ["a.pdf", "a.csv"]
    lines = found.to_latex(found.caption, "tab:depths").splitlines()
    assert sum(line.startswith("fcfs-bb:depth=") for line in lines) == 6
    assert r"2 h $\pm$ 2 h 29 min" in found.to_latex()
    about, gap, head, *_ = found.to_markdown().splitlines()
    assert about.replace(r"\_", "_") == found.caption
    assert found.caption.endswith(" Changes of the mean wait against filler.")
    assert not gap
    assert head.startswith("| policy ")
    with pytest.raises(InputError, match="did you mean 'ieee-column'"):
        found.plot(width="ieee-colum")


def test_a_folder_under_way_is_drawn_as_far_as_it_is_there(ended, tmp_path):
    runs = runs_of(KEYS)
    store = Store(tmp_path)
    swept.keep(runs, tmp_path)
    with pytest.raises(InputError, match="none of the 24 runs of this sweep has ended"):
        swept.read(tmp_path)
    for run, record in ended[:5]:
        store.save(run, record)
    found = swept.read(tmp_path)
    assert found.table.height == 5
    drawn = draw(found, Wanted())
    assert drawn.caption.endswith("; 5 of 24 runs: the sweep has not ended")
    from forebay.experiments import tidy

    tidy.write(ended, tmp_path)
    whole = swept.read(tmp_path)
    assert whole.table.equals(swept.of(ended, 24).table.select(whole.table.columns))
    (tmp_path / "grid.parquet").write_bytes(b"x")
    with pytest.raises(InputError, match=r"grid\.parquet"):
        swept.read(tmp_path)


@pytest.mark.usefixtures("runs_here")
def test_an_answer_does_what_its_table_can():
    """`fb.sweep` gave that table once."""
    found = fb.sweep(workloads=["table1"], policies=["fcfs", "fcfs-bb"], jobs=1)
    assert len(found) == 2
    assert found["policy", "mean_wait"].rows() == found.table["policy", "mean_wait"].rows()
    assert found.filter(policy="fcfs")["mean_wait"].to_list() == [480.0]
    assert found.columns == found.table.columns
    with pytest.raises(AttributeError, match="no_such"):
        _ = found.no_such
