"""What can be said of the waits of a run, job by job: tables, sentences, and all of it as one document."""

from typing import Any

import polars as pl

from forebay.explain._chain import Chains
from forebay.explain._holders import Holders
from forebay.explain._reasons import summary_of
from forebay.explain.answer.held_by import held_by
from forebay.results import Result


class Explained:
    """A run with the reasons of all its waits."""

    def __init__(self, result: Result, why: pl.DataFrame):
        self.result, self.why = result, why
        self._chains, self._holders = Chains(why), Holders(result)

    def row(self, job: int) -> dict[str, Any]:
        """A job of the job table."""
        found: dict[str, Any] = self.result.jobs.row(by_predicate=pl.col("job_id") == job, named=True)
        return found

    def pieces(self, job: int) -> pl.DataFrame:
        """The pieces of its waits."""
        return self.why.filter(job_id=job)

    def chain(self, job: int) -> list[dict[str, Any]]:
        """The pieces of the chain of waiting jobs, from a job on."""
        return [self.why.row(k, named=True) for k in self._chains.rows(job)]

    def held(self, job: int, missing: str) -> pl.DataFrame:
        """The users who held what a job lacked."""
        spans = self.why.filter(job_id=job, missing=missing).select("start", "end").rows()
        return self._holders.of(job, missing, spans)

    def main(self, job: int) -> dict[str, Any] | None:
        """The reason for which a job waited longest in the queue, and what it mostly lacked then; None if none."""
        queued = ~pl.col("reason").is_in(["stage_in", "dependency"])  # as `total_wait` counts
        mine = self.why.filter((pl.col("job_id") == job) & queued)
        if mine.is_empty():
            return None
        main: dict[str, Any] = summary_of(mine).row(0, named=True)
        lacked = (
            mine.filter(reason=main["reason"]).group_by("missing", maintain_order=True).agg(pl.col("seconds").sum())
        )
        return main | {"missing": lacked.sort("seconds", descending=True, maintain_order=True)["missing"][0]}

    def document(self, job: int) -> dict[str, Any]:
        """All there is to say of a job."""
        row, mine = self.row(job), self.pieces(job)
        return {
            "job_id": job,
            "submission_time": row["submission_time"],
            "starting_time": row["starting_time"],
            "final_state": row["final_state"],
            "waiting_time": row["waiting_time"],
            "total_wait": row["total_wait"],
            "main": summary_of(mine).drop("job_id").to_dicts(),
            "pieces": mine.drop("job_id").to_dicts(),
            "chain": self.chain(job),
            "holders": self._holders.main(job, self.why).to_dicts(),
            "in_words": self.in_words(job),
        }

    def in_words(self, job: int) -> str:
        """The chain of jobs in front, as a sentence: what the last of them lacks, and which users hold it."""
        links = self.chain(job)
        parts = [f"job {row['job_id']} waited for {_for_what(row)}" for row in links[:-1]]
        if links:
            last = links[-1]
            who = self._held_by(last)
            what = f"{last['missing']}, {who}" if who else _for_what(last)
            parts.append(f"job {last['job_id']} waited for {what}")
        return "; ".join(parts)

    def _held_by(self, piece: dict[str, Any]) -> str:
        """The users whose jobs hold what is missing in a piece, where users are known."""
        if piece["missing"] is None or piece["blocker"] is None:
            return ""
        own = self.row(piece["job_id"])
        return held_by(self.held(piece["job_id"], piece["missing"]), str(own.get("user_name") or own["user"]))


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
