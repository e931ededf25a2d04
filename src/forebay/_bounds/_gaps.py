"""How far runs are from what anybody could do."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from forebay.core.codes import FINAL_STATE, NEVER_BEGUN, JobState
from forebay.errors import wrong_type
from forebay.metrics._summary import collected
from forebay.results import Result

SCHEMA = {
    "policy": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "least": pl.Float64,
    "gap": pl.Float64,
    "ratio": pl.Float64,
}
"""`gap` is what a run has above the bound, `ratio` how many times the bound it has."""

Results = Result | Sequence[Result] | Mapping[str, Result]
_NEVER_BEGUN = [FINAL_STATE[state] for state in NEVER_BEGUN]


def gap_table(best: Mapping[str, Mapping[str, Any]], results: Results, certain: int, uncertain: int) -> pl.DataFrame:
    """A row for each run and metric; `certain` jobs are run by every policy, `uncertain` ones perhaps."""
    rows = []
    for label, result in named(results).items():
        numbers = collected(result)[0] if keeps_to(result.jobs, certain, uncertain) else {}
        rows += [(label, metric, *of_number(numbers.get(metric), row["value"])) for metric, row in best.items()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def named(given: Any) -> Mapping[str, Result]:
    """Runs by the names that a user gave, else by their policies."""
    results = [given] if isinstance(given, Result) else given
    wanted = "one run, or several: what forebay.simulate gives"
    if not isinstance(results, Sequence | Mapping) or isinstance(results, str):
        raise wrong_type("what is held against the bounds", results, wanted)
    for one in results.values() if isinstance(results, Mapping) else results:
        if not isinstance(one, Result):
            raise wrong_type("what is held against the bounds", one, wanted)
    if isinstance(results, Mapping):
        return {str(name): result for name, result in results.items()}
    return {str(result.facts["policy"]): result for result in results}


def of_number(value: float | None, least: float) -> tuple[float | None, float, float | None, float | None]:
    """Value, bound, gap and ratio; no gap where there is nothing to compare."""
    if value is None:
        return None, least, None, None
    return value, least, max(value - least, 0.0), value / least if least > 0 else None


def keeps_to(jobs: pl.DataFrame, certain: int, uncertain: int) -> bool:
    """Whether a run is one that bounds are for: its policy ran every job, to the end and in one piece."""
    if "n_attempts" in jobs.columns and (jobs["n_attempts"] > 1).any():
        return False
    begun = jobs.filter(~pl.col("final_state").is_in(_NEVER_BEGUN))
    if "running_since" in jobs.columns:
        begun = begun.filter(pl.col("running_since").is_null())
    killed = bool((begun["final_state"] == FINAL_STATE[JobState.KILLED]).any())
    return len(begun) >= certain and not (killed and not uncertain)
