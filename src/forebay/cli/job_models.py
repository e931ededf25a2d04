"""`forebay job-models`: what can be named after --job-model."""

from forebay.cli import _options as options
from forebay.cli._lists import describe, listing
from forebay.cli._options import Format

EXAMPLES = options.examples("forebay job-models", "forebay run table1 --job-model alloc-only:kill=false")


def command(form: options.FormatOption = Format.text) -> None:
    """List the job models: how jobs behave once they run."""
    found = describe("engine.jobmodels", "job model")
    columns = {"name": "job model", "description": "what jobs do"}
    listing(found, columns, "choose one with --job-model, as in `forebay run table1 --job-model alloc-only`", form)
