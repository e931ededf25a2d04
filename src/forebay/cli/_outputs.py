"""A folder for what a command writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay._files import writable_folder


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
