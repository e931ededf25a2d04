"""What runs of a command share, read from its options: all is checked before anything is written."""

from dataclasses import replace

from forebay.cli._input.options import parse_period
from forebay.cli._input.reading import read
from forebay.errors import InputError
from forebay.experiments.setting import Setting


def read_setting(
    source: str,
    platform: str | None,
    job_model: str | None,
    seed: int,
    window: str | None,
    failures: str | None,
    part: str | None = None,
    warm: bool = False,
) -> Setting:
    """Read and check everything that runs share. What is quick to check comes first.

    `part` is a period to which jobs are cut down; `warm` begins it with what ran and waited then.
    """
    from forebay.experiments.inputs import setting_of, within
    from forebay.metrics._own import registry

    cut = parse_period(part, "--slice")
    period = parse_period(window, "--window")
    found = setting_of(source, platform, job_model, seed, failures, part=cut, warm=warm, read=read)
    if period is not None:
        try:
            found = replace(found, window=within(period, found.workload))
        except InputError as error:
            raise InputError(f"--window {window!r}: {error}") from None
    given = {"platform": platform, "job-model": job_model, "seed": seed or None, "window": window}
    given |= {"failures": failures, "slice": part}
    words = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
    own = registry.words(found.metrics)
    return replace(found, given=(source, *words, *(["--warm"] if warm else []), *own))
