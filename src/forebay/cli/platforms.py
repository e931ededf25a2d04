"""`forebay platforms`: what can be named after --platform, and how a machine is understood."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._input.site import DescribedSite, SlurmConf, tell, write_site
from forebay.cli._render.printing import answer, message, say, show, table
from forebay.errors import InputError, brief

if TYPE_CHECKING:
    from forebay.platforms.platform import Platform

EXAMPLES = options.examples(
    "forebay platforms",
    "forebay platforms flat",
    "forebay platforms flat:nodes=100,burst_buffer=10TB",
    "forebay platforms --slurm-conf slurm.conf --slurm-conf qos.txt -o site.toml",
)

_GROUP = "platforms.presets"


def command(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC",
            help="Show this one: a preset's name, a spec or a TOML file.",
            show_default=False,
            autocompletion=completion.platform,
        ),
    ] = None,
    described: SlurmConf = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the machine of --slurm-conf to this TOML file.",
            show_default=False,
        ),
    ] = None,
    form: options.FormatOption = Format.text,
) -> None:
    """List the ready-made machines, or show any machine.

    With --slurm-conf a platform file is made of a site's own description, and printed if there is no -o.
    """
    from forebay import _plugins, platforms
    from forebay._run.site_policy import site_policy

    if described:
        if spec is not None:
            raise InputError(f"both {brief(spec)} and --slurm-conf were given; name one machine")
        _site(tell(described), output, form)
        return
    if output is not None:
        raise InputError("-o is where the machine of --slurm-conf is written; add --slurm-conf slurm.conf")
    if spec is None:
        found = [_preset(name, _plugins.load(_GROUP, name, "platform")) for name in platforms.names()]
        _list(found, form)
        return
    name = _plugins.find(_GROUP, spec)
    if name is not None:
        preset = _preset(name, _plugins.load(_GROUP, name, "platform"))
        if preset["parameters"]:
            _show_preset(preset, form)
            return
    machine = platforms.load(spec)
    site_policy(machine, spec)  # complains of one that cannot be
    if form is Format.json:
        answer(machine.describe())
    elif machine.classes or machine.partitions or machine.reservations:
        _show_inside(machine)
    else:
        say(str(machine))
    if machine.policy and form is not Format.json:
        say(f"\npolicy: {machine.policy}")  # in one line, however long: to be copied


def _site(site: DescribedSite, output: Path | None, form: Format) -> None:
    """A site's machine, in a file or on the screen."""
    if output is None:
        site.check()
        if form is Format.json:
            answer(site.document(None) | {"notes": list(site.notes)})
            return
        say(site.text.rstrip("\n"))
        for note in site.notes:
            message(f"note: {note}")
        return
    write_site(site, output, form)


def _show_inside(machine: "Platform") -> None:
    """A machine with its classes, partitions and reservations in tables."""
    from forebay.core.units import format_bytes, format_seconds
    from forebay.platforms.atoms import nodes_of

    shared = f"; jobs share nodes by cores, {machine.placement}" if machine.sharing else ""
    parts: list[Any] = [f"{machine.outside}{shared}"]
    if machine.classes:
        rows = [
            (
                one.name,
                f"{one.nodes:,}",
                f"{one.cores:,}",
                "-" if one.memory is None else format_bytes(one.memory),
                f"{one.gpus} {one.gpu}".strip() if one.gpus else "-",
                " ".join(one.features) or "-",
            )
            for one in machine.classes
        ]
        parts.append(table(["class", "nodes", "cores", "memory", "GPUs", "features"], rows))
    if machine.partitions:
        sets = [
            (
                one.name + (" (default)" if one.default else ""),
                f"{nodes_of(one, machine.classes, machine.nodes):,}",
                ", ".join(one.classes) or one.nodes,
                "-" if one.max_time is None else format_seconds(one.max_time),
                "-" if one.max_nodes is None else f"{one.max_nodes:,}",
                "-" if one.max_jobs is None else f"{one.max_jobs:,}",
                str(one.priority_tier),
                one.state,
            )
            for one in machine.partitions
        ]
        head = ["partition", "nodes", "which", "max time", "max nodes", "max jobs", "tier", "state"]
        parts.append(table(head, sets))
    if machine.reservations:
        planned = [(one.name, one.text) for one in machine.reservations]
        parts.append(table(["reservation", "when and where"], planned))
    show(*parts)


def _preset(name: str, module: ModuleType) -> dict[str, Any]:
    """A preset in words: its description and its parameters with their defaults, null where one must be given."""
    return {
        "name": name,
        "description": module.DESCRIPTION,
        "parameters": {
            key: {"required": one.default is one.empty, "default": None if one.default is one.empty else one.default}
            for key, one in inspect.signature(module.make).parameters.items()
        },
    }


def _list(found: list[dict[str, Any]], form: Format) -> None:
    if form is Format.json:
        answer(found)
        return
    rows = [(one["name"], one["description"]) for one in found]
    hint = "`forebay platforms NAME` shows parameters; your own: --platform mine.toml"
    show(table(["platform", "what it is"], rows), hint)


def _show_preset(preset: dict[str, Any], form: Format) -> None:
    if form is Format.json:
        answer(preset)
        return
    rows = [(key, _default(one)) for key, one in preset["parameters"].items()]
    show(f"{preset['name']}: {preset['description']}", table(["parameter", "default"], rows))


def _default(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return "must be given"
    default = parameter["default"]
    if isinstance(default, bool | str):
        return str(default).lower()
    return "none" if default is None else f"{default:g}"
