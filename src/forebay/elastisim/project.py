"""A whole project: a configuration with the platform and the jobs that it names."""

import os
from dataclasses import dataclass, replace

from forebay.elastisim import configuration, jobs, platform
from forebay.elastisim.configuration import Configuration
from forebay.elastisim.job import JobFacts
from forebay.elastisim.platform import Machine
from forebay.workload import Workload


@dataclass(frozen=True)
class Project:
    """What ElastiSim would simulate."""

    configuration: Configuration
    machine: Machine
    workload: Workload
    facts: tuple[JobFacts, ...]  # that algorithms may know of each job


def read(path: str | os.PathLike[str]) -> Project:
    """The project of a configuration.json."""
    given = configuration.read(path)
    machine = platform.read(given.platform)
    workload, each = jobs.read_all(given.jobs, machine, given.clip, (given.path.parent,))
    return Project(given, machine, replace(workload, notes=(*given.notes, *machine.notes, *workload.notes)), each)
