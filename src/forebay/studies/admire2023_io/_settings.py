"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Choices(Strict):
    """What the text leaves open."""

    policies: list[str] = Field(min_length=1)
    intensity: str
    load: list[float | int]
    workloads: int = Field(ge=1)


class Plans(Strict):
    """Policies that are too slow for all jobs, and others beside them."""

    policies: list[str] = Field(min_length=1)
    workload: str
    workloads: int = Field(ge=1)


class Beyond(Strict):
    """Policies that the text does not have, and bandwidth that is reserved."""

    policies: list[str] = Field(min_length=1)
    pooled: list[str]
    share: list[float | int]
    workloads: int = Field(ge=1)
    plans: Plans


class AdmireIo(Settings):
    """All of it."""

    reference: str
    platform: str
    job_model: str
    workload: str
    workloads: int = Field(ge=1)
    series: int = Field(ge=1)
    choices: Choices
    beyond: Beyond


def settings(quick: bool = False) -> AdmireIo:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", AdmireIo, quick)
