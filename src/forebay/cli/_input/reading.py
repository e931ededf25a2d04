"""Reading a workload for a command: with a bar where the file is large."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from forebay.cli._render.progress import progress

if TYPE_CHECKING:
    from forebay.workload import Workload


def read(source: str, **options: Any) -> "Workload":
    """As `forebay.read`; a file that is read in one go shows nothing."""
    from forebay import workload

    title = f"reading {source}"
    with ExitStack() as stack:
        watch: list[Any] = []

        def tell(done: int, total: int) -> None:
            if not watch and done < total:
                watch.append(stack.enter_context(progress(100, "%")))
            if watch:
                watch[0].at(title, 100 * done // total)

        return workload.read(source, progress=tell, **options)
