"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Published(Strict):
    """Failures as in the work: mean times between them, and how long a node is down."""

    mtbf: list[str] = Field(min_length=1)
    downtime: list[str] = Field(min_length=1)


class Loads(Strict):
    """Shares of the machine that jobs ask for."""

    loads: list[float] = Field(min_length=1)


class Case(Strict):
    """What is done otherwise; None: as everywhere."""

    policies: list[str] = Field(min_length=2)  # the first is what the others are compared with
    workload: str | None = None
    checkpoint: str | None = None
    models: list[str] = Field(default_factory=list)
    job_model: str | None = None


class Beyond(Strict):
    """What the work does not look at, by the names of tables."""

    draws: int = Field(ge=1)
    cases: dict[str, Case]


class Sfsj(Settings):
    """All of it."""

    reference: str
    proposed: str
    platform: str
    job_model: str
    workload: str
    draws: int = Field(ge=1)
    window: list[float] = Field(min_length=2, max_length=2)  # days
    checkpoint: str
    mtbf: str
    downtime: str
    published: Published
    loads: Loads
    beyond: Beyond


def settings(quick: bool = False) -> Sfsj:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Sfsj, quick)
