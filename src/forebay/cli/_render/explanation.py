"""What `forebay explain` says of a job: a page, or a line of a table."""

from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.cli._render.number_text import percent, seconds
from forebay.cli._render.printing import table

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from forebay.explain.answer.explained import Explained
    from forebay.results import Result

_PLAIN = {
    "nodes": "nodes are busy",
    "burst_buffer": "the burst buffer is full",
    "pool": "a pool is empty",
    "node_down": "nodes have failed",
    "reserved": "reserved for others",
    "order": "others go first",
    "policy": "the policy's choice",
    "user_jobs": "its user's jobs",
    "user_nodes": "its user's nodes",
    "limit": "a limit",
    "reservation": "nodes are reserved",
    "partition": "its partition is down",
    "dependency": "other jobs are not done",
    "said": "as the policy says",
    "stage_in": "staging in",
    "unknown": "not known",
}
"""Reasons in a few words."""

_REJECTED = {
    "too_large": "it asks for more than the machine has",
    "partition": "its partition takes no jobs, or let none start to the end",
    "over_limit": "it asks for more than a limit allows, or its user was at one",
    "by_policy": "the policy turned it away",
    "dependency": "what it waits for can never happen",
}


_BUSY = {
    "cores": "cores are busy",
    "memory": "memory is full",
    "GPUs": "GPUs are busy",
    "idle": "no node is idle",
    "room": "nodes lack room",
}
"""The same of what is inside nodes, by the first word for what is missing."""


def page(run: "Explained", job: int, most: int) -> list[Any]:
    """What a person wants to know of a job: a heading, the pieces in order of time, and the jobs in front."""
    from forebay.explain._words import moment_of

    mine, moment = run.pieces(job), moment_of(run.result)
    blocks: list[Any] = [_heading(run, run.row(job), mine, moment)]
    if mine.is_empty():
        return blocks
    shown = mine if mine.height <= most else mine.top_k(most, by="seconds").sort("start")
    rows = [
        [moment(one["start"]), moment(one["end"]), seconds(one["seconds"]), one["slurm"], one["detail"]]
        for one in shown.to_dicts()
    ]
    blocks.append(table(["from", "to", "for", "Slurm's word", "why"], rows, numbers=(0, 1, 2)))
    if mine.height > most:
        left = mine.height - most
        rest = float(mine["seconds"].sum()) - float(shown["seconds"].sum())
        blocks.append(f"and {counted(left, 'shorter piece')}, {seconds(rest)} together; --format json has all")
        blocks.append(_totals(mine))
    blocks.append(f"In short: {run.in_words(job)}.")
    return blocks


def _totals(mine: "pl.DataFrame") -> Any:
    from forebay import explain

    rows = [
        [_PLAIN[one["reason"]], seconds(one["seconds"]), percent(one["share"]), one["slurm"]]
        for one in explain.summary_of(mine).to_dicts()
    ]
    return table(["in all", "for", "share", "Slurm's word"], rows, numbers=(1, 2))


def _heading(run: "Explained", row: dict[str, Any], mine: "pl.DataFrame", moment: "Callable[[float], str]") -> str:
    job, came = row["job_id"], moment(row["submission_time"])
    begin = f"job {job} ({asked_for(row, run.result.unit)}) came at {came}"
    if row["final_state"] == "REJECTED":
        return f"{begin} and never ran: {_why_rejected(run.result, job)}"
    if row["final_state"] == "CANCELLED":
        waited = float(mine["seconds"].sum())
        return f"{begin} and never ran: its user withdrew it after {seconds(waited)}"
    again = row["total_wait"] - row["waiting_time"]
    more = (
        f", and {seconds(again)} more between or after its starts" if again > 1e-6 * max(1.0, row["total_wait"]) else ""
    )
    if not row["total_wait"] and not row["waiting_time"]:
        return f"{begin} and started at once"
    return f"{begin}, waited {seconds(row['waiting_time'])}, and started at {moment(row['starting_time'])}{more}"


def asked_for(row: dict[str, Any], unit: str) -> str:
    """What a job asks for: nodes; where these are shared, also what of them; and what its nodes must have."""
    from forebay.core.units import format_bytes

    amount, words = row["requested_number_of_resources"], []
    if unit == "nodes":
        words.append(counted(amount, "node"))
    else:
        packed = "together" in str(row.get("placing", ""))
        parts = row.get("parts") or row.get("nodes") or 0
        words += [counted(parts, "task" if packed else "node")] if parts else []
        words.append(counted(amount, "core"))
    words += [format_bytes(row["memory"])] if row.get("memory") else []
    if row.get("gpus"):
        kind = f" of type {row['gpu_name']}" if row.get("gpu_name") else ""
        words.append(counted(row["gpus"], "GPU") + kind)
    words += [f"--constraint={row['features_name']}"] if row.get("features_name") else []
    words += [f"partition {row['queue_name']}"] if row.get("queue_name") else []
    words += [f"user {row['user_name']}"] if row.get("user_name") else []
    return ", ".join(words)


def _why_rejected(result: "Result", job: int) -> str:
    import polars as pl

    rows = result.log.filter((pl.col("job") == job) & (pl.col("kind") == "reject"))
    return _REJECTED.get(str(rows["reason"][0]) if rows.height else "", "it was rejected")


def line(run: "Explained", job: int, alike: int) -> list[str]:
    """A job as a row of the table of long waits; `alike`: how many others wait for the same."""
    main = run.main(job)
    assert main is not None  # it has waited
    missing = main["missing"] or ""
    plain = _BUSY.get(missing.partition(" ")[0], "") if main["reason"] == "nodes" else ""
    if missing.endswith(" free"):
        plain = _BUSY["room"]
    cells = [str(job), seconds(run.row(job)["total_wait"]), f"{alike:,}" if alike else "-"]
    cells += [plain or _PLAIN[main["reason"]], percent(main["share"]), main["slurm"]]
    return [*cells, run.in_words(job)]
