"""Files of a run, written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._files import replacing, writable_folder
from forebay.cli._print import as_json
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.core.result import Result

LINKS = "links.csv"


def run_files(result: "Result") -> list[str]:
    """Names of the files of a run; links.csv only where there are links."""
    links = [] if result.links.is_empty() else [LINKS]
    return ["jobs.csv", "jobs.parquet", *links, "log.parquet", "run.json"]


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


@contextmanager
def written_run(folder: Path, result: "Result", document: dict[str, Any]) -> Iterator[list[str]]:
    """The files of one run, in a folder: they take their names when the block ends. Gives these names.

    Jobs for other tools, all of their columns, the links, the log, the facts.
    """
    from polars.exceptions import PolarsError

    from forebay.core.result import JOBS_CSV

    names = run_files(result)
    with replacing(*(folder / name for name in names)) as temporary:
        paths = dict(zip(names, temporary, strict=True))
        try:
            result.jobs.select(JOBS_CSV).write_csv(paths["jobs.csv"])
            result.jobs.write_parquet(paths["jobs.parquet"])
            if LINKS in paths:
                result.links.write_csv(paths[LINKS])
            result.log.write_parquet(paths["log.parquet"])
        except PolarsError as error:  # a full disk, as polars tells it of Parquet files
            raise InputError(f"{folder}: cannot write there ({error})") from None
        paths["run.json"].write_text(as_json(document) + "\n", encoding="utf-8")
        yield names
    if LINKS not in paths:
        (folder / LINKS).unlink(missing_ok=True)  # of an older run, whose other files were just replaced
