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
    from forebay._live.policy import nearest_policy
    from forebay.slurm.description import describe

    sources = tuple(path.name for path in paths)
    description = describe(paths)
    policy, left = nearest_policy(description.parameters)
    return DescribedSite(sources, description, policy, (*description.notes, *left))


def _who(limit: dict[str, Any]) -> str:
    return " ".join(f"{key} {limit[key]}" for key in ("qos", "user", "account", "partition") if key in limit)
