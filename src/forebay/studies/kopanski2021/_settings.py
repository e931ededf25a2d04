"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import ConfigDict, Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Parts(Strict):
    """The parts that the authors published."""

    parts: list[int] = Field(min_length=1)
    job_models: list[str] = Field(min_length=1)
    seeds: int = Field(ge=1)
    added: float = Field(gt=0)
    replicas: int = Field(ge=0)
    replicas_of_random: int = Field(ge=0)


class Choices(Strict):
    """What the authors chose, and what else could be."""

    policies: list[str] = Field(min_length=1)
    reservations: list[str] = Field(min_length=1)
    buffers: dict[str, str] = Field(min_length=1)  # platforms, by how their buffer lies


class FullLog(Strict):
    """The whole log."""

    job_model: str
    draws: int = Field(ge=1)
    seeds: int = Field(ge=1)
    tail: int = Field(ge=1)
    gantt: int = Field(ge=1)


class Sixteen(Strict):
    """All parts of the log."""

    job_model: str
    parts: int = Field(ge=1)
    draws: int = Field(ge=1)
    seeds: int = Field(ge=1)


class Better(Strict):
    """Policies of ours beside theirs."""

    job_model: str
    policies: list[str] = Field(min_length=1)
    known: list[str]
    reference: str
    seeds: int = Field(ge=1)
    replicas: int = Field(ge=2)
    later: float = Field(ge=0)


class MadeUp(Strict):
    """Models that stand in for the authors' files."""

    log: str
    part: str
    estimates: str


class Kopanski(Settings):
    """All of it."""

    model_config = ConfigDict(populate_by_name=True)

    platform: str
    reservations: str
    reference: str
    log: str
    requests: list[str]
    parts: Parts
    choices: Choices
    full_log: FullLog = Field(alias="full-log")
    sixteen: Sixteen
    better: Better
    made_up: MadeUp = Field(alias="made-up")


def settings(quick: bool = False) -> Kopanski:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Kopanski, quick)
