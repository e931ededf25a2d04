"""The jobs that ran under every policy, over which a comparison takes means, and what became of the others.

A limit on submitted jobs rejects more jobs the longer a policy lets them wait. Means over the rest would be over
different jobs for each policy, and favour policies that run the fewest.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.experiments.comparison.entrants import Entrants
    from forebay.experiments.comparison.workspace import Workspace
    from forebay.experiments.setting import Setting
    from forebay.results import Result

TABLE = "not-run.csv"


class Common:
    """Which jobs ran in the runs on the trace itself, under every policy that ran any."""

    def __init__(self, documents: Sequence[dict[str, Any]], made: "Workspace") -> None:
        from forebay.metrics._table import counted as count_in

        ran, every = dict[str, set[int]](), set[int]()
        for document in documents:
            result = _of_window(made.result(document["policy"]), document)
            every |= set(result.jobs["job_id"].to_list())
            ran[document["policy"]] = set(count_in(result).select("job_id").collect().to_series().to_list())
        some = [mine for mine in ran.values() if mine]
        self.ids = set.intersection(*some) if some else set()
        self.anywhere: set[int] = set().union(*some)
        self.all = all(mine == self.ids for mine in ran.values())
        """Whether every policy ran the same jobs."""
        self.missing = {policy: every - mine for policy, mine in ran.items()}
        """Jobs that did not run under a policy."""

    def of(self, result: "Result") -> "Result":
        """A result with only the common jobs in its table; the log, and so use of the machine, stays whole."""
        if self.all:
            return result
        return replace(result, jobs=result.jobs.filter(result.jobs["job_id"].is_in(list(self.ids))))

    def documents(self, documents: Sequence[dict[str, Any]], made: "Workspace") -> list[dict[str, Any]]:
        """What run.json holds of each run, with numbers of jobs over the common ones."""
        if self.all:
            return list(documents)
        return [document | {"summary": self._summary(document, made)} for document in documents]

    def _summary(self, document: dict[str, Any], made: "Workspace") -> dict[str, Any]:
        from forebay.metrics._listing import metrics
        from forebay.metrics._metric import OF_JOBS

        result = self.of(_of_window(made.result(document["policy"]), document))
        found = dict(document["summary"])
        for one in metrics():
            if one.group in OF_JOBS or one.names[0].startswith("n_waiting"):
                found |= one.numbers(result)
        return found


def _of_window(result: "Result", document: dict[str, Any]) -> "Result":
    from forebay.metrics.window import window

    return window(result, *document["window"]) if document["window"] else result


def not_run(
    common: Common, entrants: "Entrants", setting: "Setting", policies: Mapping[str, Any], made: "Workspace"
) -> list[dict[str, Any]]:
    """Rows of policy, reason, and the number of jobs that did not run under that policy for that reason.

    Only jobs that another policy ran, and jobs that a limit on submitted jobs rejected, which depends on the policy.
    Notes report the jobs that no policy could run.
    """
    return [
        {"policy": policy, "reason": reason, "jobs": n}
        for policy, missing in common.missing.items()
        if missing
        for reason, n in _reasons(
            entrants.setting(policy, setting), policies[policy], made.result(policy), missing, common.anywhere
        )
    ]


_WORDS = {
    "too_large": "more than the machine has",
    "over_limit": "over a limit",
    "by_policy": "rejected by the policy",
    "dependency": "what they wait for cannot happen any more",
    "partition": "their partition takes none",
    "cancelled": "withdrawn by their users before they began",
}


def _reasons(
    setting: "Setting", policy: Any, result: "Result", ids: set[int], anywhere: set[int]
) -> list[tuple[str, int]]:
    """Reasons and limits with their numbers of jobs, those of most first."""
    import polars as pl

    kind, reason = pl.col("kind").cast(pl.String), pl.col("reason").cast(pl.String)
    rows = result.log.filter(kind.is_in(["reject", "cancel"]) & pl.col("job").is_in(list(ids))).select(
        "job", reason=reason
    )
    reasons = dict(rows.iter_rows())
    limits = setting.limits_of(result, policy)
    words = [
        limits.get(job) or _WORDS.get(str(why), str(why))
        for job, why in reasons.items()
        if job in anywhere or job in limits
    ]
    return Counter(words).most_common()
