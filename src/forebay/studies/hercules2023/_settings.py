"""The keys of this study's study.toml."""

from pathlib import Path

from pydantic import Field

from forebay.studies._toml import Settings, Strict, read_settings

FOLDER = Path(__file__).parent


class Figures(Strict):
    """What Figs. 3.4 and 3.5 are of."""

    clients: int = Field(ge=1)
    servers: list[int] = Field(min_length=2)
    blocks: list[int] = Field(min_length=1)
    points: float = Field(gt=0)


class Machine(Strict):
    """A machine, its jobs, and what these do for their I/O: job models by name."""

    nodes: int = Field(ge=1)
    pfs: str
    port: str
    workload: str
    walltimes: str
    load: float
    checkpoints: float
    io: list[float] = Field(min_length=1)
    seeds: int = Field(ge=1)
    reference: str
    systems: dict[str, str]


class Case(Strict):
    """What is done otherwise; None: as everywhere."""

    load: float | None = None
    checkpoints: float | None = None
    policy: str | None = None
    servers: str = ""  # more parameters of job models that have servers
    systems: list[str] | None = None


class Variations(Strict):
    """Some of the systems at some shares of I/O, in every case."""

    io: list[float] = Field(min_length=1)
    seeds: int = Field(ge=1)
    systems: list[str] = Field(min_length=2)
    cases: dict[str, Case]


class Hercules(Settings):
    """All of it."""

    published: Figures
    machine: Machine
    variations: Variations


def settings(quick: bool = False) -> Hercules:
    """The settings of the study, or of its quick version."""
    return read_settings(FOLDER / "study.toml", Hercules, quick)
