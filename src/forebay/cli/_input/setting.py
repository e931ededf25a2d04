"""What runs of a command share, read from its options: all is checked before anything is written."""

from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.cli._input.options import parse_period
from forebay.cli._input.reading import read
from forebay.errors import InputError
from forebay.experiments.setting import Setting

if TYPE_CHECKING:
    from forebay.workload import Workload


def read_setting(
    source: str,
    platform: str | None,
    job_model: str | None,
    seed: int,
    window: str | None,
    failures: str | None,
    part: str | None = None,
    warm: bool = False,
    anonymise: bool = False,
) -> Setting:
    """Read and check everything that runs share. What is quick to check comes first.

    `part` is a period to which jobs are cut down; `warm` begins it with what ran and waited then. With `anonymise`
    users, groups and accounts go by labels, which are those of the whole file.
    """
    from forebay._run.disguise import Disguise
    from forebay.experiments.inputs import setting_of, within
    from forebay.metrics._own import registry

    cut = parse_period(part, "--slice")
    period = parse_period(window, "--window")
    whole: list[Workload] = []

    def keeping(one: str) -> "Workload":
        whole.append(read(one))
        return whole[0]

    found = setting_of(source, platform, job_model, seed, failures, part=cut, warm=warm, read=keeping)
    if anonymise:
        disguise = Disguise.of(whole[0], found.platform)
        machine = disguise.platform(found.platform)
        found = replace(found, workload=disguise.workload(found.workload), platform=machine)
    if period is not None:
        try:
            found = replace(found, window=within(period, found.workload))
        except InputError as error:
            raise InputError(f"--window {window!r}: {error}") from None
    given = {"platform": platform, "job-model": job_model, "seed": seed or None, "window": window}
    given |= {"failures": failures, "slice": part}
    words = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
    words += [f"--{name}" for name, there in (("warm", warm), ("anonymise", anonymise)) if there]
    return replace(found, given=(source, *words, *registry.words(found.metrics)))
