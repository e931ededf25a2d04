"""Descriptions of a site, spoiled: slurm.conf, and what scontrol, sinfo and sacctmgr print."""

from functools import partial
from pathlib import Path
from random import Random

from forebay import platforms
from forebay.errors import InputError
from forebay.slurm.description import describe
from fuzz import mutate
from fuzz.check import check_message, check_platform

SHOWN = Path(__file__).parents[1] / "slurm" / "shown"

QOS = b"""Name|Priority|GrpTRES|GrpJobs|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU
normal|0|||||||
long|10|cpu=2000,gres/gpu=8|20|14-00:00:00|mem=2T|4|50
"""
ASSOC = b"""Cluster|Account|User|Partition|Share|GrpTRES|MaxJobs|MaxSubmit
mini|root|||1|||
mini|physics|||4|node=2||
mini|physics|ann|gpu|1||2|10
"""
BUFFER = b"""Name=datawarp DefaultPool=wlm_pool Granularity=200GiB TotalSpace=5800GiB UsedSpace=1200GiB
  AltPoolName[0]=ldap Granularity=1GiB TotalSpace=2TiB FreeSpace=2TiB UsedSpace=0
"""
MORE = {"qos.txt": QOS, "assoc.txt": ASSOC, "buffer.txt": BUFFER}
ALONE = ("slurm.conf", "nodes.txt", "sinfo.txt", "sinfo_l.txt", "sinfo.json")
"""What tells of nodes without the help of others."""


def case(rng: Random, folder: Path) -> None:
    """One file spoiled, with the others that it needs; whatever is read makes a platform file that reads back."""
    name = rng.choice([*ALONE, "slurm.conf", "partitions.txt", "config.txt", *MORE])
    data = MORE.get(name) or (SHOWN / name).read_bytes()
    lines = [partial(mutate.spoil_lines, delimiter=mark) for mark in ("=", " ", "|", ",")]
    change = mutate.spoil_json if name.endswith(".json") else rng.choice([mutate.spoil, *lines])
    path = folder / name
    path.write_bytes(change(rng, data))
    # Where no slurm.conf says otherwise, limits are taken as enforced.
    files = [path] if name in ALONE else [SHOWN / ("nodes.txt" if name in MORE else "slurm.conf"), path]
    try:
        made = describe(files)
    except InputError as error:
        check_message(error, (name,) if name in ALONE else (), length=800)
        raise
    for note in made.notes:
        note.encode()
    target = folder / "site.toml"
    head, _, limits = made.platform("fuzz").partition("\n[[limits]]")
    target.write_text(head if not hasattr(platforms, "Rule") else f"{head}\n[[limits]]{limits}" if limits else head)
    try:
        machine = platforms.load(target)
    except InputError as error:
        raise AssertionError(f"what was written cannot be read: {error}") from None
    check_platform(machine)
