"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Staging(Strict):
    """SAS against random tiers, for some ratios of the staging bandwidth to the slow tier's."""

    k: list[int] = Field(min_length=1)


class Mistakes(Strict):
    """Users' mistakes, from none to as large as what they are about."""

    capacity: str
    k: int
    steps: int = Field(ge=1)


class Beyond(Strict):
    """Policies that the paper does not have."""

    policies: list[str] = Field(min_length=1)
    k: list[int] = Field(min_length=1)


class Sensitivity(Strict):
    """What the paper leaves open."""

    rate: list[float]
    data: list[float]
    mean: list[float | int]
    k: int
    steps: int = Field(ge=1)


class Sas(Settings):
    """All of it."""

    drawn: str
    platform: str
    job_model: str
    workload: str
    workloads: int = Field(ge=1)
    repetitions: int = Field(ge=1)
    capacities: list[str] = Field(min_length=1)
    steps: int = Field(ge=1)
    against: Staging  # of the section `random`
    staging: Staging
    mistakes: Mistakes
    beyond: Beyond
    sensitivity: Sensitivity


def settings(quick: bool = False) -> Sas:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Sas, quick)
