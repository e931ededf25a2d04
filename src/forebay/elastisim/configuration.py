"""configuration.json: which jobs run on which platform, when the scheduler is called, and what is written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay._support.files import as_path
from forebay.elastisim.interface import InvocationType
from forebay.elastisim.jobs import find, places
from forebay.errors import InputError, brief, listed
from forebay.workload import _source
from forebay.workload.formats._json_values import count, member, parse, text

OUTPUTS = (
    *("job_statistics", "node_utilization", "cpu_utilization", "network_activity", "pfs_utilization"),
    *("gpu_utilization", "task_times"),
)
_FLAGS = {
    "schedule_on_job_submit": False,
    "schedule_on_job_finalize": False,
    "schedule_on_scheduling_point": False,
    "schedule_on_reconfiguration": False,
    "clip_evolving_requests": True,
    "forward_io_information": False,
    "allow_oversubscription": False,
    "sensing": False,
    "log_task_times": False,
}
_SECONDS = ("scheduling_interval", "min_scheduling_interval", "job_kill_grace_period", "sensing_interval")
_LINKS = ("pfs_read_links", "pfs_write_links")
_IGNORED = ("show_progress_bar",)
_KEYS = {"jobs_file", "platform_file", *_FLAGS, *_SECONDS, *_LINKS, *OUTPUTS, *_IGNORED, "zmq_url"}


@dataclass(frozen=True)
class Configuration:
    """A simulation of ElastiSim."""

    path: Path
    jobs: Path
    platform: Path
    on_submit: bool  # whether the scheduler is called when a job arrives
    on_finalize: bool  # when one ends
    on_point: bool  # when one is at a scheduling point
    on_reconfiguration: bool  # when a change of size, decided earlier, has been made
    interval: int  # seconds between further calls; 0 = none
    grace: int  # seconds from the end of a job's walltime to its end
    clip: bool  # whether requests are clipped to a job's sizes
    io_information: bool  # whether the scheduler knows what the file system carries
    sensing: int  # seconds between rows of the utilisations that are written; 0 = none
    outputs: Mapping[str, str]  # kind -> the file that it asks for
    url: str  # at which ElastiSim would meet its algorithm
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> frozenset[InvocationType]:
        """Why the scheduler is called. Requests of jobs are always put to it.

        Where it is called at points, it is not called for the changes made there.
        """
        why = {
            InvocationType.INVOKE_PERIODIC: self.interval > 0,
            InvocationType.INVOKE_JOB_SUBMIT: self.on_submit,
            InvocationType.INVOKE_JOB_COMPLETED: self.on_finalize,
            InvocationType.INVOKE_JOB_KILLED: self.on_finalize,
            InvocationType.INVOKE_SCHEDULING_POINT: self.on_point,
            InvocationType.INVOKE_EVOLVING_REQUEST: True,
            InvocationType.INVOKE_RECONFIGURATION: self.on_reconfiguration and not self.on_point,
        }
        return frozenset(one for one, wanted in why.items() if wanted)


def read(path: str | os.PathLike[str]) -> Configuration:
    """The configuration in a file. Files that it names are looked for in its own folder, then in the working one."""
    path = as_path(path, "the configuration to read")
    where = str(path)
    table = parse(_source.load(path).data, where)
    if not isinstance(table, dict):
        raise InputError(f"{where}: is {brief(table)}; it must be an object")
    flags = {key: _flag(table.get(key, default), where, key) for key, default in _FLAGS.items()}
    seconds = {key: count(table.get(key, 0), where, key) for key in _SECONDS}
    if flags["allow_oversubscription"]:
        raise InputError(f"{where}: allow_oversubscription is true, and a node runs one job here; set it to false")
    if seconds["min_scheduling_interval"] > 0:
        raise InputError(
            f"{where}: min_scheduling_interval is {seconds['min_scheduling_interval']}, by which ElastiSim drops calls "
            "that jobs wait for; set it to 0"
        )
    for key in ("schedule_on_job_submit", "schedule_on_job_finalize"):
        if not flags[key] and not seconds["scheduling_interval"]:
            raise InputError(
                f"{where}: {key} is false and there is no scheduling_interval; ElastiSim wants one of them"
            )
    unknown = sorted(table.keys() - _KEYS)
    return Configuration(
        path=path,
        jobs=_file(table, "jobs_file", path),
        platform=_file(table, "platform_file", path),
        on_submit=flags["schedule_on_job_submit"],
        on_finalize=flags["schedule_on_job_finalize"],
        on_point=flags["schedule_on_scheduling_point"],
        on_reconfiguration=flags["schedule_on_reconfiguration"],
        interval=seconds["scheduling_interval"],
        grace=seconds["job_kill_grace_period"],
        clip=flags["clip_evolving_requests"],
        io_information=flags["forward_io_information"],
        sensing=seconds["sensing_interval"] if flags["sensing"] else 0,
        outputs={key: text(table[key], where, key) for key in OUTPUTS if table.get(key) is not None},
        url=text(table.get("zmq_url", ""), where, "zmq_url"),
        notes=(f"{path.name}: keys that mean nothing here: {listed(unknown)}",) if unknown else (),
    )


def _flag(value: Any, where: str, key: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be true or false")
    return value


def _file(table: Mapping[str, Any], key: str, path: Path) -> Path:
    name, folders = text(member(table, key, str(path)), str(path), key), (path.parent, Path())
    found = find(name, folders)
    if found is None:
        raise InputError(f"{path}: its {key} {name!r} is not there; looked in {listed(places(folders), width=200)}")
    return found
