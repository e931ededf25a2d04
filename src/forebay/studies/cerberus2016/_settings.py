"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import ConfigDict, Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Variant(Strict):
    """A system, and who schedules it."""

    title: str
    model: str  # parameters of the workload model three-phase
    policy: str
    platform: str


class Version(Strict):
    """One of the authors' two models."""

    service: str  # in which queues are served
    variants: list[str] = Field(min_length=1)
    pairs: list[list[str]]  # whose jobs are compared one by one


class Shared(Strict):
    """Links that jobs share."""

    version: str
    variants: list[str] = Field(min_length=1)
    lanes: list[int] = Field(min_length=1)  # how many jobs at full speed a link carries
    draws: int = Field(ge=1)


class MadeUp(Strict):
    """A model that stands in for the log."""

    log: str


class Cerberus(Settings):
    """All of it."""

    model_config = ConfigDict(populate_by_name=True)

    trace: str
    draws: int = Field(ge=1)
    job_model: str
    variants: dict[str, Variant]
    march: Version
    april: Version
    shared: Shared
    made_up: MadeUp = Field(alias="made-up")

    def service(self, version: str) -> str:
        """In which order the authors' program of that version serves its queues."""
        return self.of(version).service

    def of(self, version: str) -> Version:
        """The settings of a version."""
        return self.march if version == "march" else self.april


def lane(platform: str) -> float:
    """Bytes/s that a job has of its own on a machine of the study."""
    from forebay import platforms

    read = platforms.load(platform).fabric().read
    assert read is not None
    return read.cap


def settings(quick: bool = False) -> Cerberus:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Cerberus, quick)
