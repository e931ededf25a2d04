"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Published(Strict):
    """Workloads as in the text."""

    applications: list[str] = Field(min_length=1)
    jobs: list[int] = Field(min_length=1)


class Choice(Strict):
    """What is done in one way or another: by the policy, or by the model that makes the jobs."""

    policy: str
    model: str = ""


class Choices(Strict):
    """What the text leaves open, by the names of tables."""

    application: str
    jobs: list[int] = Field(min_length=1)
    varied: dict[str, Choice]


class Beyond(Strict):
    """Policies that the text does not compare with."""

    application: str
    jobs: list[int] = Field(min_length=1)
    policies: list[str] = Field(min_length=1)


class Mebf(Settings):
    """All of it."""

    reference: str
    proposed: str
    platform: str
    job_model: str
    workload: str
    draws: int = Field(ge=1)
    published: Published
    choices: Choices
    beyond: Beyond


def settings(quick: bool = False) -> Mebf:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Mebf, quick)
