"""`forebay workload list`: the workloads that need no file."""

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.lists import describe, listing

EXAMPLES = options.examples("forebay workload list", "forebay run default")


def command(form: options.FormatOption = Format.text) -> None:
    """List the embedded workloads, which need no file."""
    found = describe("workload.embedded", "workload")
    columns = {"name": "workload", "description": "what it is"}
    listing(found, columns, "files in any of `forebay formats` can be named as well", form)
