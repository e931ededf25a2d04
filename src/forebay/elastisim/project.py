"""A whole project: a configuration with the platform and the jobs that it names."""

import os
from dataclasses import dataclass, replace

from forebay.elastisim import configuration, jobs, platform
from forebay.elastisim.configuration import Configuration
from forebay.elastisim.job import Told
from forebay.elastisim.platform import Machine
from forebay.workload import Workload


@dataclass(frozen=True)
class Project:
    """What ElastiSim would simulate."""

    configuration: Configuration
    machine: Machine
    workload: Workload
    told: tuple[Told, ...]  # what algorithms are told of each job


def read(path: str | os.PathLike[str]) -> Project:
    """The project of a configuration.json."""
    told = configuration.read(path)
    machine = platform.read(told.platform)
    workload, each = jobs.read_all(told.jobs, machine, told.clip, (told.path.parent,))
    return Project(told, machine, replace(workload, notes=(*told.notes, *machine.notes, *workload.notes)), each)
