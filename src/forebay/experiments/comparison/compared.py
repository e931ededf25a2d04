"""A comparison that is over: the runs, best first, the verdicts on them, and its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import replacing
from forebay._support.text import counted, write_csv
from forebay.errors import ForebayError
from forebay.experiments.comparison import bounds, common_jobs, verdicts
from forebay.experiments.comparison import groups as by_group
from forebay.experiments.setting import TURNED_AWAY
from forebay.experiments.verdicts import Verdict
from forebay.metrics._numbers import killed_unlike

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.verdicts import Jury
    from forebay.experiments.conditions import Condition
    from forebay.experiments.execution.executor import Failure

_OF_A_RUN = ("policy", "spec", "seconds", "log_sha256", "folder", "summary")
COMPARED, RANKING = "compare.csv", "ranking.csv"


@dataclass(frozen=True)
class Compared:
    """What run.json holds of each run, best first, and the verdicts on them."""

    documents: list[dict[str, Any]]
    verdicts: list[Verdict]
    reference: str
    basis: str  # what intervals are over
    failed: "Mapping[str, Failure]"
    folder: Path
    pictures: list[Path]
    groups: "pl.DataFrame | None" = None  # by queue, user and account
    least: bounds.Least | None = None  # that any policy can have
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by policy: what tables show
    runs: int = 1  # of each policy, that these are means over
    not_run: Sequence[dict[str, Any]] = ()  # by policy and reason, of jobs that did not run under every policy
    notes: Sequence[str] = ()  # on the comparison as a whole
    jury: "Jury | None" = None  # that judges by other metrics

    def tables(self) -> "dict[str, pl.DataFrame]":
        """By file: what there is of all policies; verdicts need two, and groups two as well."""
        import polars as pl

        rows = [{"policy": document["policy"]} | document["summary"] for document in self.documents]
        found = {COMPARED: pl.DataFrame(rows, infer_schema_length=None), RANKING: self.ranking()}
        if self.verdicts:
            found[verdicts.TABLE] = verdicts.frame(self.verdicts)
        if self.groups is not None:
            found[by_group.TABLE] = self.groups
        if self.least is not None:
            found[bounds.TABLE] = bounds.frame(self.least)
        if self.not_run:
            found[common_jobs.TABLE] = pl.DataFrame(self.not_run)
        return found

    def write(self, folder: Path) -> None:
        """All tables as CSV."""
        for name, frame in self.tables().items():
            with replacing(folder / name) as [temporary]:
                write_csv(frame, temporary)

    def ranking(self) -> "pl.DataFrame":
        """What tables show, a row a policy: the number of runs and jobs, and every mean over them."""
        import polars as pl

        rows = [{"policy": policy, "runs": self.runs, **numbers} for policy, numbers in self.numbers.items()]
        return pl.DataFrame(rows, infer_schema_length=None)

    def holding(self, conditions: "Sequence[Condition]") -> list[str]:
        """Why conditions hold, a line each."""
        assert self.jury is not None
        return verdicts.check(conditions, self.verdicts, self.documents, self.jury)

    @property
    def first(self) -> dict[str, Any]:
        """What tells of the machine as it is: the run of the reference, else the best."""
        mine = (document for document in self.documents if document["policy"] == self.reference)
        return next(mine, self.documents[0])

    @property
    def own(self) -> list[str]:
        """Numbers of metrics of the user's own."""
        from forebay.metrics._listing import own_among

        return own_among(document["summary"] for document in self.documents)

    @property
    def shown(self) -> list[dict[str, Any]]:
        """A row a policy, with the numbers that tables show in place of those of the run on the trace."""
        numbers = {document["policy"]: document["summary"] for document in self.documents} | dict(self.numbers)
        return [document | {"summary": numbers[document["policy"]]} for document in self.documents]

    def document(self) -> dict[str, Any]:
        """The answer as JSON: what the runs share, then a summary for each policy, best first."""
        shared = ("workload", "workload_sha256", "provenance", "platform", "job_model", "seed", "window", "dropped")
        documents = self.documents
        return {
            **{key: self.first[key] for key in (*shared, "versions")},
            **{key: self.first[key] for key in ("failures", "recorded") if key in self.first},
            "notes": [*notes(documents), *self.notes],
            "reference": self.reference,
            "policies": [{key: document[key] for key in _OF_A_RUN if key in document} for document in documents],
            "ranking": self.ranking().to_dicts(),
            "not_run": list(self.not_run),
            "verdicts": verdicts.rows(self.verdicts),
            "bounds": [] if self.least is None else list(self.least.best.values()),
            "gaps": [] if self.least is None else self.least.gaps.to_dicts(),
            "groups": [] if self.groups is None else self.groups.to_dicts(),
            "failed": [{"policy": spec, "message": failure.text} for spec, failure in self.failed.items()],
            "files": [str(file) for file in (*(self.folder / name for name in self.tables()), *self.pictures)],
        }


def alike(documents: list[dict[str, Any]]) -> list[list[str]]:
    """Policies whose schedules are one and the same."""
    alike: dict[str, list[str]] = {}
    for document in documents:
        alike.setdefault(document["schedule"], []).append(document["policy"])
    return list(alike.values())


def labelled(documents: list[dict[str, Any]]) -> dict[str, str]:
    """The specs behind labels; a what-if, which is called as the site with its change, has that of the site."""
    names = [document["policy"] for document in documents]
    found = {document["policy"]: document["spec"] for document in documents if "spec" in document}
    return {name: spec for name, spec in found.items() if not any(name.startswith(f"{one}, ") for one in names)}


def distinct(documents: list[dict[str, Any]]) -> list[str]:
    """Policies to draw: of those with the same schedule the first, as the others would hide it."""
    return [twins[0] for twins in alike(documents)]


def notes(documents: list[dict[str, Any]]) -> list[str]:
    """What is to be said of any of the runs, and which of them are one and the same."""
    same = [f"{' and '.join(twins)} gave the same schedule" for twins in alike(documents) if len(twins) > 1]
    found = dict.fromkeys(note for document in documents for note in document["notes"])
    kills = killed_unlike({document["policy"]: document["summary"] for document in documents})
    said = (note for note in found if not note.endswith(TURNED_AWAY))  # a table shows these
    return [*said, *same, *([kills] if kills else [])]


def failure(failed: "Mapping[str, Failure]", total: int) -> ForebayError:
    """One error for all that failed; what is wrong with every policy is said once."""
    texts: dict[str, list[str]] = {}
    for spec, failure in failed.items():
        texts.setdefault(failure.text, []).append(spec)
    if len(failed) == total and len(texts) == 1:
        text = next(iter(texts))
    else:
        stand = "; the results of the others stand" if len(failed) < total else ""
        lines = [f"  {', '.join(specs)}: {text}" for text, specs in texts.items()]
        text = "\n".join([f"{len(failed)} of {counted(total, 'policy', 'policies')} failed{stand}", *lines])
    error = ForebayError(text)
    error.exit_code = max(failure.exit_code for failure in failed.values())
    return error
