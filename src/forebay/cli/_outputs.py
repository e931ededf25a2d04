"""Files of a run, written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._files import writable_folder
from forebay.cli._print import as_json
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.core.result import Result

RUN_FILES = ("jobs.csv", "jobs.parquet", "log.parquet", "run.json")


@contextmanager
def output_folder(folder: Path) -> Iterator[Path]:
    """A folder that can be written to. Whatever of it is new and still empty afterwards is taken away again."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield writable_folder(folder)
    finally:
        for path in new:
            try:
                path.rmdir()
            except OSError:  # it holds the results, or could not be made
                break


def write_run(paths: list[Path], result: "Result", document: dict[str, Any]) -> None:
    """The RUN_FILES of one run, to these paths: jobs for other tools, all of their columns, the log, the facts."""
    from polars.exceptions import PolarsError

    from forebay.core.result import JOBS_CSV

    jobs_csv, jobs_parquet, log_parquet, run_json = paths
    try:
        result.jobs.select(JOBS_CSV).write_csv(jobs_csv)
        result.jobs.write_parquet(jobs_parquet)
        result.log.write_parquet(log_parquet)
    except PolarsError as error:  # a full disk, as polars tells it of Parquet files
        raise InputError(f"{jobs_csv.parent}: cannot write there ({error})") from None
    run_json.write_text(as_json(document) + "\n", encoding="utf-8")
