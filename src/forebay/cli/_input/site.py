"""--slurm-conf: a site's own description as a platform file, a policy's spec, and words on both."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, notes_block, pairs, show
from forebay.errors import InputError, listed

if TYPE_CHECKING:
    from forebay.slurm.description import Description
    from forebay.workload import Workload

SlurmConf = Annotated[
    list[Path] | None,
    typer.Option(
        "--slurm-conf",
        metavar="FILE",
        help="The site's slurm.conf; also what scontrol show, sinfo or sacctmgr -P show printed. May be given several "
        "times.",
        show_default=False,
    ),
]

POLICIES = ("slurm", "multifactor", "fcfs-easy")
"""What is nearest to Slurm, the best first."""


@dataclass(frozen=True)
class DescribedSite:
    """What a site's files tell, and the file and the spec that are made of it."""

    sources: tuple[str, ...]
    description: "Description"
    policy: str
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The platform file."""
        return self.description.platform(f"From {listed(self.sources)}.", self.policy)

    def check(self) -> None:
        """Read the platform file back, so that none is given out that cannot be used."""
        with tempfile.TemporaryDirectory() as folder:
            self._write(Path(folder) / "site.toml")

    def write(self, target: Path) -> None:
        """Put the platform file there."""
        from forebay._support.files import replacing

        if target.is_dir():
            raise InputError(f"{target}: is a folder; name a file inside it, such as site.toml")
        if target.suffix.lower() != ".toml":
            raise InputError(f"{target}: a platform file ends in .toml; write {target.stem or 'site'}.toml")
        with replacing(target) as [temporary]:
            self._write(temporary)

    def _write(self, path: Path) -> None:
        from forebay import platforms

        path.write_text(self.text, encoding="utf-8")
        try:
            platforms.load(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), f"{self.sources[0]}: as a platform")) from None

    def jobs(self, workload: "Workload", machine: Path) -> tuple["Workload", list[str]]:
        """Jobs as the site's partitions treat them, on the machine of that file, and remarks."""
        from forebay.slurm.jobs import of_site
        from forebay.workload import _source

        # A size guessed from the jobs means nothing once the machine is known.
        notes = tuple(note for note in workload.notes if note not in _source.size_told(workload.notes))
        return of_site(replace(workload, platform=str(machine), notes=notes), self.description.site)

    def rows(self) -> list[tuple[str, str]]:
        """For a command's answer."""
        limits = self.description.limits
        return [
            ("machine", self.description.summary),
            *([("limits", f"of {listed(_who(one) for one in limits)}")] if limits else []),
            ("policy", self.policy),
        ]

    def document(self, target: Path | None) -> dict[str, Any]:
        """The same as JSON has it."""
        return {
            "platform": str(target) if target else None,
            "toml": self.text,
            "machine": self.description.summary,
            "limits": list(self.description.limits),
            "policy": self.policy,
            "parameters": dict(self.description.parameters),
        }


def write_site(site: DescribedSite, target: Path, form: Format) -> None:
    """Put the platform file at `target`, and say so."""
    site.write(target)
    if form is Format.json:
        answer(site.document(target) | {"notes": list(site.notes)})
    else:
        show(pairs([("wrote", str(target)), *site.rows()]), *notes_block(site.notes))


def plain_stem(path: Path) -> str:
    """The name of a file without any of its endings: march of march.parquet.zip."""
    return path.name.partition(".")[0] or "site"


def tell(paths: Sequence[Path]) -> DescribedSite:
    """What these files say together."""
    from forebay.slurm.description import describe

    sources = tuple(path.name for path in paths)
    description = describe(paths)
    policy, left = _policy(description.parameters)
    return DescribedSite(sources, description, policy, (*description.notes, *left))


def _who(limit: dict[str, Any]) -> str:
    return " ".join(f"{key} {limit[key]}" for key in ("qos", "user", "account", "partition") if key in limit)


def _policy(parameters: dict[str, str]) -> tuple[str, list[str]]:
    """The spec of the policy that is nearest to Slurm, and remarks on what it leaves out."""
    from forebay import policies

    name = next(one for one in POLICIES if one in policies.names())
    known = policies.describe(name)["parameters"]
    kept: list[str] = []
    left: list[str] = []
    notes: list[str] = []
    for key, value in parameters.items():
        if key not in known:
            left.append(key)
            continue
        try:
            policies.load(f"{name}:{','.join([*kept, f'{key}={value}'])}")
        except InputError as error:  # values that switch something off, such as sched_interval=-1
            notes.append(f"{key} is left out: {error}")
        else:
            kept.append(f"{key}={value}")
    if left:
        notes.append(f"settings that the policy {name} does not have: {listed(left)}")
    return ":".join([name, ",".join(kept)] if kept else [name]), notes
