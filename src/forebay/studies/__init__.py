"""One folder a paper: `forebay study NAME` repeats its experiments and puts our numbers beside the published ones.

A folder holds the study's own code (`DESCRIPTION`, `SECTIONS` and `plan(options)`), study.toml (what is run),
expected.csv (published numbers, and where each was read) and README.md (what agrees, what does not, and why). A folder
dropped here, or an entry point `forebay.studies`, is a study; nothing else to edit.
"""

from forebay import _plugins
from forebay.studies._frame import Options, Plan, Report, Study

__all__ = ["Options", "Plan", "Report", "Study", "load", "names"]


def names() -> list[str]:
    """Every study that can be named."""
    return _plugins.names("studies")


def load(name: str) -> Study:
    """The study of that name."""
    study: Study = _plugins.load("studies", name, "study")
    return study
