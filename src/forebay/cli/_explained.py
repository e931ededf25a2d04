"""What `forebay explain` says of a job: a page, a line of a table, or JSON."""

from typing import TYPE_CHECKING, Any

from forebay._text import counted
from forebay.cli._numbers import percent, seconds
from forebay.cli._print import table

if TYPE_CHECKING:
    import polars as pl

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


def document(result: "Result", why: "pl.DataFrame", job: int) -> dict[str, Any]:
    """All there is to say of a job."""
    import polars as pl

    from forebay import explain

    row = result.jobs.row(by_predicate=pl.col("job_id") == job, named=True)
    mine = why.filter(job_id=job)
    return {
        "job_id": job,
        "submission_time": row["submission_time"],
        "starting_time": row["starting_time"],
        "final_state": row["final_state"],
        "waiting_time": row["waiting_time"],
        "total_wait": row["total_wait"],
        "main": explain.summary_of(mine).drop("job_id").to_dicts(),
        "pieces": mine.drop("job_id").to_dicts(),
        "chain": explain.chain(result, job, why).to_dicts(),
        "in_words": words(result, why, job),
    }


def words(result: "Result", why: "pl.DataFrame", job: int) -> str:
    """The chain of jobs in front, as a sentence."""
    from forebay import explain

    links = explain.chain(result, job, why)
    parts = [f"job {row['job_id']} waited for {_for_what(row)}" for row in links.to_dicts()]
    return "; ".join(parts)


def _for_what(row: dict[str, Any]) -> str:
    """What a piece of waiting was for."""
    other = row["blocker"]
    match row["reason"]:
        case "nodes":
            return f"nodes held by job {other}" if other is not None else "nodes"
        case "burst_buffer" | "pool":
            return f"{row['detail'].partition(':')[0]} held by job {other}" if other is not None else "room"
        case "reserved":
            return f"job {other}'s {'node ' if 'the nodes are' in row['detail'] else ''}reservation"
        case "order":
            return f"job {other}, which went first"
        case "node_down":
            return "nodes that had failed"
        case "user_jobs" | "user_nodes":
            return "its user's limit"
        case "limit" | "reservation":
            return f"a {row['reason']}"
        case "partition":
            return "its partition to come up"
        case "dependency":
            return f"job {other}, after which alone it may start" if other is not None else "others"
        case "said":
            return f"this, as the policy says: {row['detail']}"
        case "stage_in":
            return "its data to be staged in"
        case "unknown":
            return "a leg that never began"
    return "the policy to take it"


def page(result: "Result", why: "pl.DataFrame", job: int, most: int) -> list[Any]:
    """What a person wants to know of a job: a heading, the pieces in order of time, and the jobs in front."""
    import polars as pl

    row = result.jobs.row(by_predicate=pl.col("job_id") == job, named=True)
    mine = why.filter(job_id=job)
    blocks: list[Any] = [_heading(result, row, mine)]
    if mine.is_empty():
        return blocks
    shown = mine if mine.height <= most else mine.top_k(most, by="seconds").sort("start")
    rows = [
        [seconds(one["start"]), seconds(one["end"]), seconds(one["seconds"]), one["slurm"], one["detail"]]
        for one in shown.to_dicts()
    ]
    blocks.append(table(["from", "to", "for", "Slurm's word", "why"], rows, numbers=(0, 1, 2)))
    if mine.height > most:
        left = mine.height - most
        rest = float(mine["seconds"].sum()) - float(shown["seconds"].sum())
        blocks.append(f"and {counted(left, 'shorter piece')}, {seconds(rest)} together; --format json has all")
        blocks.append(_totals(mine))
    blocks.append(f"In short: {words(result, why, job)}.")
    return blocks


def _totals(mine: "pl.DataFrame") -> Any:
    from forebay import explain

    rows = [
        [_PLAIN[one["reason"]], seconds(one["seconds"]), percent(one["share"]), one["slurm"]]
        for one in explain.summary_of(mine).to_dicts()
    ]
    return table(["in all", "for", "share", "Slurm's word"], rows, numbers=(1, 2))


def _heading(result: "Result", row: dict[str, Any], mine: "pl.DataFrame") -> str:
    job, came = row["job_id"], seconds(row["submission_time"])
    asked = counted(row["requested_number_of_resources"], "node")
    begin = f"job {job} ({asked}) came at {came}"
    if row["final_state"] == "REJECTED":
        return f"{begin} and never ran: {_why_rejected(result, job)}"
    if row["final_state"] == "CANCELLED":
        waited = float(mine["seconds"].sum())
        return f"{begin} and never ran: its user withdrew it after {seconds(waited)}"
    again = row["total_wait"] - row["waiting_time"]
    more = (
        f", and {seconds(again)} more between or after its starts" if again > 1e-6 * max(1.0, row["total_wait"]) else ""
    )
    if not row["total_wait"] and not row["waiting_time"]:
        return f"{begin} and started at once"
    return f"{begin}, waited {seconds(row['waiting_time'])}, and started at {seconds(row['starting_time'])}{more}"


def _why_rejected(result: "Result", job: int) -> str:
    import polars as pl

    rows = result.log.filter((pl.col("job") == job) & (pl.col("kind") == "reject"))
    return _REJECTED.get(str(rows["reason"][0]) if rows.height else "", "it was rejected")


def line(result: "Result", why: "pl.DataFrame", job: int) -> list[str]:
    """A job as a row of the table of long waits."""
    import polars as pl

    from forebay import explain

    queued = ~pl.col("reason").is_in(["stage_in", "dependency"])  # as `total_wait` counts
    main = explain.summary_of(why.filter((pl.col("job_id") == job) & queued)).to_dicts()[0]
    waited = result.jobs.filter(job_id=job)["total_wait"].item()
    cells = [str(job), seconds(waited), _PLAIN[main["reason"]], percent(main["share"]), main["slurm"]]
    return [*cells, words(result, why, job)]
