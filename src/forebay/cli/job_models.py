"""`forebay job-models`: what can be named after --job-model."""

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.lists import describe, listing

EXAMPLES = options.examples("forebay job-models", "forebay run table1 --job-model alloc-only:kill=false")


def command(form: options.FormatOption = Format.text) -> None:
    """List the job models: how jobs behave once they run."""
    found = describe("engine.jobmodels", "job model")
    columns = {"name": "job model", "description": "what jobs do"}
    listing(found, columns, "choose one with --job-model, as in `forebay run table1 --job-model alloc-only`", form)
