"""What `forebay explain` says of a job: a page, a line of a table, or JSON."""

from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.cli._render.holders import held_by
from forebay.cli._render.number_text import percent, seconds
from forebay.cli._render.printing import table

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


_BUSY = {
    "cores": "cores are busy",
    "memory": "memory is full",
    "GPUs": "GPUs are busy",
    "idle": "no node is idle",
    "room": "nodes lack room",
}
"""The same of what is inside nodes, by the first word for what is missing."""


class Explained:
    """A run with the reasons of all its waits."""

    def __init__(self, result: "Result", why: "pl.DataFrame"):
        from forebay.explain._chain import Chains
        from forebay.explain._holders import Holders
        from forebay.explain._words import moment_of

        self.result, self.why = result, why
        self.chains, self.holders, self.moment = Chains(why), Holders(result), moment_of(result)

    def row(self, job: int) -> dict[str, Any]:
        """A job of the job table."""
        import polars as pl

        found: dict[str, Any] = self.result.jobs.row(by_predicate=pl.col("job_id") == job, named=True)
        return found

    def chain(self, job: int) -> list[dict[str, Any]]:
        """The pieces of the chain of waiting jobs, from a job on."""
        return [self.why.row(k, named=True) for k in self.chains.rows(job)]

    def held(self, job: int, missing: str) -> "pl.DataFrame":
        """The users who held what a job lacked."""
        spans = self.why.filter(job_id=job, missing=missing).select("start", "end").rows()
        return self.holders.of(job, missing, spans)


def document(run: Explained, job: int) -> dict[str, Any]:
    """All there is to say of a job."""
    from forebay import explain

    row, mine = run.row(job), run.why.filter(job_id=job)
    return {
        "job_id": job,
        "submission_time": row["submission_time"],
        "starting_time": row["starting_time"],
        "final_state": row["final_state"],
        "waiting_time": row["waiting_time"],
        "total_wait": row["total_wait"],
        "main": explain.summary_of(mine).drop("job_id").to_dicts(),
        "pieces": mine.drop("job_id").to_dicts(),
        "chain": run.chain(job),
        "holders": run.holders.main(job, run.why).to_dicts(),
        "in_words": words(run, job),
    }


def words(run: Explained, job: int) -> str:
    """The chain of jobs in front, as a sentence: what the last of them lacks, and which users hold it."""
    links = run.chain(job)
    parts = [f"job {row['job_id']} waited for {_for_what(row)}" for row in links[:-1]]
    if links:
        last = links[-1]
        who = _holders(run, last)
        what = f"{last['missing']}, {who}" if who else _for_what(last)
        parts.append(f"job {last['job_id']} waited for {what}")
    return "; ".join(parts)


def _holders(run: Explained, piece: dict[str, Any]) -> str:
    """The users whose jobs hold what is missing in a piece, where users are known."""
    if piece["missing"] is None or piece["blocker"] is None:
        return ""
    own = run.row(piece["job_id"])
    return held_by(run.held(piece["job_id"], piece["missing"]), str(own.get("user_name") or own["user"]))


def _for_what(row: dict[str, Any]) -> str:
    """What a piece of waiting was for."""
    other = row["blocker"]
    match row["reason"]:
        case "nodes" | "burst_buffer" | "pool":
            what = row["missing"] or "nodes"
            return f"{what} held by job {other}" if other is not None else what
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


def page(run: Explained, job: int, most: int) -> list[Any]:
    """What a person wants to know of a job: a heading, the pieces in order of time, and the jobs in front."""
    mine = run.why.filter(job_id=job)
    blocks: list[Any] = [_heading(run, run.row(job), mine)]
    if mine.is_empty():
        return blocks
    shown = mine if mine.height <= most else mine.top_k(most, by="seconds").sort("start")
    rows = [
        [run.moment(one["start"]), run.moment(one["end"]), seconds(one["seconds"]), one["slurm"], one["detail"]]
        for one in shown.to_dicts()
    ]
    blocks.append(table(["from", "to", "for", "Slurm's word", "why"], rows, numbers=(0, 1, 2)))
    if mine.height > most:
        left = mine.height - most
        rest = float(mine["seconds"].sum()) - float(shown["seconds"].sum())
        blocks.append(f"and {counted(left, 'shorter piece')}, {seconds(rest)} together; --format json has all")
        blocks.append(_totals(mine))
    blocks.append(f"In short: {words(run, job)}.")
    return blocks


def _totals(mine: "pl.DataFrame") -> Any:
    from forebay import explain

    rows = [
        [_PLAIN[one["reason"]], seconds(one["seconds"]), percent(one["share"]), one["slurm"]]
        for one in explain.summary_of(mine).to_dicts()
    ]
    return table(["in all", "for", "share", "Slurm's word"], rows, numbers=(1, 2))


def _heading(run: Explained, row: dict[str, Any], mine: "pl.DataFrame") -> str:
    job, came = row["job_id"], run.moment(row["submission_time"])
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
    return f"{begin}, waited {seconds(row['waiting_time'])}, and started at {run.moment(row['starting_time'])}{more}"


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


def main_of(run: Explained, job: int) -> dict[str, Any]:
    """The reason for which a job waited longest in the queue, and what it mostly lacked then."""
    import polars as pl

    from forebay import explain

    queued = ~pl.col("reason").is_in(["stage_in", "dependency"])  # as `total_wait` counts
    mine = run.why.filter((pl.col("job_id") == job) & queued)
    main: dict[str, Any] = explain.summary_of(mine).row(0, named=True)
    of_main = mine.filter(reason=main["reason"]).group_by("missing", maintain_order=True).agg(pl.col("seconds").sum())
    return main | {"missing": of_main.sort("seconds", descending=True, maintain_order=True)["missing"][0]}


def line(run: Explained, job: int, alike: int) -> list[str]:
    """A job as a row of the table of long waits; `alike`: how many others wait for the same."""
    main = main_of(run, job)
    missing = main["missing"] or ""
    plain = _BUSY.get(missing.partition(" ")[0], "") if main["reason"] == "nodes" else ""
    if missing.endswith(" free"):
        plain = _BUSY["room"]
    cells = [str(job), seconds(run.row(job)["total_wait"]), f"{alike:,}" if alike else "-"]
    cells += [plain or _PLAIN[main["reason"]], percent(main["share"]), main["slurm"]]
    return [*cells, words(run, job)]
