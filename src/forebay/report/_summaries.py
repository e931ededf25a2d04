"""What a run is summed up by: the few numbers of a line of a table, and those of a page of its own."""

from collections.abc import Iterable, Mapping
from typing import Any

from forebay._support.paper import Table
from forebay._support.text import counted, shared
from forebay.errors import InputError, wrong_type
from forebay.metrics import summary
from forebay.metrics._listing import own_among
from forebay.metrics._numbers import shown, wait_with_interval
from forebay.results import Result

COLUMNS = (
    ("mean_wait", "mean wait"),
    ("p95_wait", "p95 wait"),
    ("mean_turnaround_time", "turnaround"),
    ("mean_bounded_slowdown_10min", "bounded slowdown"),
)
"""Numbers of a line, by their names in summaries; the use of each resource follows, then metrics of the user's own."""

Numbers = Mapping[str, Any]


def columns(numbers: Numbers, resources: Iterable[str]) -> list[tuple[str, str]]:
    """Name and title of each number of a line, of those that runs of these resources have."""
    used = [(f"utilisation_{name}", f"{name.replace('_', ' ')} used") for name in resources]
    own = [(name, name.replace("_", " ")) for name in own_among([numbers])]
    return [column for column in (*COLUMNS, *used, *own) if column[0] in numbers]


def lines(numbers: Numbers, resources: Iterable[str]) -> list[tuple[str, str]]:
    """Words and values of all that a page has room for; staging only of a run that stages data; so with failures."""
    names = [
        ("95 % of jobs wait at most", "p95_wait"),
        ("longest wait", "max_wait"),
        ("bounded slowdown (10 min)", "mean_bounded_slowdown_10min"),
        ("makespan", "makespan"),
        *((f"{name.replace('_', ' ')} in use", f"utilisation_{name}") for name in resources),
        ("file system in use", "pfs_utilisation"),
        ("mean stage-in time", "mean_stage_in_time"),
        ("mean I/O time", "mean_io_time"),
        ("mean I/O slowdown", "mean_io_slowdown"),
        ("mean I/O stall", "mean_io_stall"),
        ("platform efficiency", "platform_efficiency"),
        ("nodes that only serve", "server_node_hours"),
        ("moved between servers", "redistributed_bytes"),
        ("kept off the file system", "pfs_bytes_avoided"),
        ("useful work", "useful_utilisation"),
        ("lost to failures", "lost_to_failures_share"),
        ("lost to the policy", "lost_to_policy_share"),
        ("node failures", "n_failures"),
        ("given up after failures", "n_failed"),
        ("killed", "n_killed"),
        ("rejected", "n_rejected"),
        *([("cancelled while waiting", "n_cancelled")] if numbers["n_cancelled"] else []),
        ("deadlines missed", "missed_deadlines"),
        ("mean tardiness", "mean_tardiness"),
        ("largest tardiness", "max_tardiness"),
        *((name.replace("_", " "), name) for name in own_among([numbers])),
    ]
    there = [(words, shown(name, numbers[name])) for words, name in names if name in numbers]
    return [("mean wait", wait_with_interval(numbers)), *there]


def table(results: Result | Mapping[str, Result]) -> Table:
    """The summary of a run, or of several, as papers have it: `to_latex(caption, label)` and `to_markdown()`.

    Parameters
    ----------
    results
        One run, with a line for each number; or runs by the names to show for them, with a line for each run.

    Returns
    -------
    Table
        Its `titles`, `rows` and `caption` are text.

    Examples
    --------
    >>> runs = {policy: fb.simulate("table1", policy=policy) for policy in ("fcfs", "fcfs-bb")}
    >>> print(fb.report.table(runs).to_markdown().splitlines()[-1][:24])
    | fcfs-bb | 2 min 22 s |
    """
    if isinstance(results, Result):
        return one(summary(results), results.resources, caption([results.facts], results.jobs.height))
    if not isinstance(results, Mapping) or not all(isinstance(found, Result) for found in results.values()):
        raise wrong_type("what to sum up", results, 'a Result, or several by name: {"fcfs": a, "fcfs-bb": b}')
    if not results:
        raise InputError("no run to sum up; give one, or several by name")
    numbers = {label: summary(found) for label, found in results.items()}
    every = {name: value for found in numbers.values() for name, value in found.items()}
    wanted = columns(every, dict.fromkeys(name for found in results.values() for name in found.resources))
    rows = [[label, *(shown(name, found.get(name)) for name, _ in wanted)] for label, found in numbers.items()]
    jobs = {found.jobs.height for found in results.values()}
    about = caption([found.facts for found in results.values()], jobs.pop() if len(jobs) == 1 else None)
    return Table(["run", *(title for _, title in wanted)], rows, range(1, len(wanted) + 1), about)


def one(numbers: Numbers, resources: Iterable[str], about: str) -> Table:
    """The summary of one run."""
    return Table(["number", "value"], lines(numbers, resources), (1,), about)


def caption(facts: Iterable[Mapping[str, Any]], jobs: int | None) -> str:
    """What runs are of, as far as they agree: "8 jobs of table1 on flat (4 nodes) under fcfs"."""
    every = list(facts)
    machines = (fact.get("platform") for fact in every)
    pieces = [
        ("", "" if jobs is None else counted(jobs, "job")),
        ("of ", shared((fact.get("workload") for fact in every), "workloads")),
        ("on ", shared((one.get("text") if isinstance(one, Mapping) else one for one in machines), "machines")),
        ("under ", shared((fact.get("policy") for fact in every), "policies")),
    ]
    return " ".join(f"{word}{piece}" for word, piece in pieces if piece)
