"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import ConfigDict, Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Workloads(Strict):
    """S1 to S4."""

    platform: str
    order: str
    draws: int = Field(ge=1)
    seeds: int = Field(ge=1)
    requests: dict[str, str]  # parameters of the workload model fan2019, by name


class Ssd(Strict):
    """S5 to S7."""

    platform: str
    order: str
    draws: int = Field(ge=1)
    seeds: int = Field(ge=1)
    policies: list[str] = Field(min_length=1)
    buffers: str  # parameters of the workload model fan2019
    requests: dict[str, str]  # parameters of the workload model fan2019-ssd, by name


class Fronts(Strict):
    """Windows for the genetic algorithm."""

    requests: str
    windows: int = Field(ge=1)
    seeds: int = Field(ge=1)
    mutations: list[float] = Field(min_length=1)
    generations: list[int] = Field(min_length=1)


class MadeUp(Strict):
    """A model that stands in for the log."""

    log: str


class BBSched(Settings):
    """All of it."""

    model_config = ConfigDict(populate_by_name=True)

    reference: str
    trace: str
    job_model: str
    workloads: Workloads
    ssd: Ssd
    fronts: Fronts
    made_up: MadeUp = Field(alias="made-up")


def settings(quick: bool = False) -> BBSched:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", BBSched, quick)
