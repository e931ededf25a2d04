"""Columns of the author's own: made, carried by operations and formats, read by policies, shown in results."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.tables import policy_kernel
from forebay.core.verbs import act_start
from forebay.errors import BadActionError, InputError
from forebay.workload import _sidecar, anonymity, operations
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

DEADLINES = [500.0, None, 200.0, 300.0]
APPLICATIONS = ["lammps", "gromacs", None, "lammps"]
OWN = {"deadline": DEADLINES, "application": APPLICATIONS}


def made(**columns):
    jobs = {"id": [1, 2, 3, 4], "submit": [0, 0, 0, 50], "walltime": [100] * 4, "run_time": [100] * 4, "nodes": [4] * 4}
    return fb.Workload("mine", job_table(jobs | (columns or OWN), own=list(columns or OWN)), platform="flat:nodes=4")


def own(w):
    return w.jobs.select("deadline", "application").to_dict(as_series=False)


def test_they_are_no_demands():
    assert made().own == ("deadline", "application")
    assert made().resources == ()
    assert not any("deadline" in note for note in fb.simulate(made()).facts["notes"])


class Earliest(fb.Policy):
    """The earliest deadline first; those without one last."""

    def decide(self, view, act):
        deadline = view.column("deadline")
        for job in sorted(view.queue, key=lambda job: np.nan_to_num(deadline[job], nan=np.inf)):
            if act.fits(job):
                act.start(job)


@policy_kernel
def earliest(state, params, memory, rng):
    """The same, compiled, where nodes are all that jobs ask for."""
    free = state.resources[0]["free"]
    while True:
        best, at = np.inf, -1
        for q in range(state.counts[0]["queue_first"], state.counts[0]["queue_last"]):
            j = state.queue[q]
            if j >= 0 and state.columns[j, 0] < best and state.jobs[j]["nodes"] <= free:
                taken = False
                for a in range(state.counts[0]["n_actions"]):
                    taken = taken or state.actions[a]["job"] == j
                if not taken:
                    best, at = state.columns[j, 0], j
        if at < 0:
            return
        act_start(state, at, 0)
        free -= state.jobs[at]["nodes"]


class Compiled(fb.Policy):
    columns = ("deadline",)

    def kernel(self):
        return earliest


def test_a_policy_reads_numbers():
    # 3 is due first, then 4 (there at 50 s), then 1; 2 says nothing
    assert fb.simulate(made(), policy=Earliest()).jobs["starting_time"].to_list() == [200.0, 300.0, 0.0, 100.0]


def test_a_kernel_reads_the_columns_that_it_names():
    due = made(deadline=[500.0, 600.0, 200.0, 300.0])
    assert fb.simulate(due, policy=Compiled()).jobs["starting_time"].to_list() == [200.0, 300.0, 0.0, 100.0]


class Reader(fb.Policy):
    def __init__(self, read):
        self.read, self.seen = read, []

    def decide(self, view, act):
        self.seen.append(self.read(view))
        for job in view.queue:
            if act.fits(job):
                act.start(job)


def test_text_becomes_codes_with_names_as_jobs_arrive():
    policy = Reader(lambda view: (view.now, view.codes("application").tolist(), view.words("application")))
    fb.simulate(made(), policy=policy)
    assert policy.seen[0] == (0.0, [1, 0, -1, -1], {0: "gromacs", 1: "lammps"})
    assert policy.seen[1] == (50.0, [1, 0, -1, 1], {0: "gromacs", 1: "lammps"})


def test_what_is_still_to_come_is_blank():
    policy = Reader(lambda view: view.column("deadline").tolist())
    fb.simulate(made(), policy=policy)
    assert np.isnan(policy.seen[0]).tolist() == [False, True, False, True]
    assert np.isnan(policy.seen[1]).tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda view: view.column("application"), "read column 'application' as numbers, and it holds text"),
        (lambda view: view.codes("deadline"), "read codes of column 'deadline', and it holds numbers"),
        (lambda view: view.column("deadlines"), "which the workload lacks: did you mean 'deadline'"),
    ],
)
def test_a_column_of_another_kind_is_refused(read, message):
    with pytest.raises(BadActionError, match=message):
        fb.simulate(made(), policy=Reader(read))


def test_a_kernel_that_needs_numbers_says_so():
    text = made(deadline=["soon", "late", "late", "soon"])
    with pytest.raises(
        InputError, match=r"reads numbers from column 'deadline', and mine has text there such as 'soon'"
    ):
        fb.simulate(text, policy=Compiled())
    with pytest.raises(InputError, match=r"reads a column 'deadline', which mine lacks"):
        fb.simulate(made(due=[1.0] * 4), policy=Compiled())


def test_operations_carry_them():
    w = made()
    assert own(operations.first(w, 3)) == {"deadline": DEADLINES[:3], "application": APPLICATIONS[:3]}
    assert own(operations.slice_time(w, 40, 60)) == {"deadline": [250.0], "application": ["lammps"]}
    few = operations.filter_jobs(w, operations.parse_condition("deadline<400", w.jobs.schema))
    assert few.jobs["id"].to_list() == [3, 4]
    named = operations.filter_jobs(w, operations.parse_condition("application==lammps", w.jobs.schema))
    assert named.jobs["id"].to_list() == [1, 4]
    both = operations.join([w, made(deadline=[1.0] * 4)])
    assert both.jobs["deadline"].to_list() == [500.0, None, 200.0, 1.0, 1.0, 1.0, 300.0, 1.0]
    assert both.jobs["application"].null_count() == 5


def test_mistakes_of_operations():
    w = made()
    with pytest.raises(InputError, match=r"application holds text, which is compared by == and != alone"):
        operations.parse_condition("application<4", w.jobs.schema)
    with pytest.raises(InputError, match=r"the parts differ in deadline: Float64 and String"):
        operations.join([w, made(deadline=["soon"] * 4)])


def test_formats_keep_them_or_say_so(tmp_path):
    w = made()
    for name in ("mine.parquet.zip", "mine.json"):
        assert not [note for note in fb.write(w, tmp_path / name) if "deadline" in note]
        again = fb.read(tmp_path / name)
        assert own(again) == OWN
        assert again.own == w.own
    for name, word in (("mine.swf", "SWF"), ("mine.sacct", "sacct")):
        notes = fb.write(w, tmp_path / name)
        assert f"deadline is not written: {word} has no field for it; .parquet.zip keeps it" in notes


def test_a_table_beside_a_trace(tmp_path):
    (tmp_path / "more.csv").write_text("id,own:deadline,own:application\n1,500,lammps\n3,200,\n")
    w = made(due=[1.0] * 4)
    found = operations.attach_table(w, _sidecar.load(tmp_path / "more.csv"), "more.csv")
    assert own(found) == {"deadline": [500.0, None, 200.0, None], "application": ["lammps", None, None, None]}
    assert "2 jobs have no row in more.csv: they keep their values" in found.notes


def test_results_show_them():
    jobs = fb.simulate(made()).jobs
    assert jobs["deadline"].to_list() == DEADLINES
    assert jobs["application"].to_list() == APPLICATIONS


def test_who_shares_a_trace_does_not_share_them():
    shared = anonymity.anonymise(made())
    assert shared.own == ()
    assert "columns of its author's own are taken away: deadline, application" in shared.notes


@pytest.mark.parametrize("name", ["waiting_time", "leg"])
def test_names_that_mean_something_else(name):
    jobs = job_table({"id": [1], "submit": [0], "walltime": [1], "run_time": [1], "nodes": [1]})
    with pytest.raises(InputError, match=f"'{name}' cannot name a column of your own: results have a column"):
        fb.Workload("mine", jobs.with_columns(pl.Series(name, [1.0])))


def test_a_column_that_the_machine_takes_for_a_demand():
    jobs = made(burst_buffer=[1.5] * 4)
    with pytest.raises(InputError, match=r"burst_buffer holds Float64, and flat has a resource of that name"):
        fb.simulate(jobs, "flat:nodes=4,burst_buffer=10GB")


def test_columns_that_nobody_named_are_demands_and_must_be_whole():
    with pytest.raises(InputError, match=r"further columns are demands on resources, but for those in own=\[\.\.\.\]"):
        job_table({"id": [1], "submit": [0], "walltime": [1], "run_time": [1], "nodes": [1], "due": [0.5]})
    with pytest.raises(InputError, match="has no column deadlin of your own"):
        job_table({"id": [1], "submit": [0], "walltime": [1], "run_time": [1], "nodes": [1]}, own=["deadlin"])
