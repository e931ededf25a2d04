"""`forebay`: the commands put together, and what the shell sees of errors, Ctrl-C and closed pipes."""

import atexit
import gc
import os
import signal
import sys
import threading
import traceback
import warnings
from functools import partial
from typing import Annotated, Any

import typer

from forebay._support.programs import in_command
from forebay._support.text import plain
from forebay.cli import (
    bounds,
    capacity,
    check_policy,
    compare,
    diverge,
    elastisim,
    explain,
    fidelity,
    formats,
    job_models,
    platforms,
    plot,
    policies,
    predict,
    report,
    run,
    study,
    sweep,
    warmup,
)
from forebay.cli._input.help_text import Command, Group
from forebay.cli._input.options import examples
from forebay.cli._render.printing import LINES, hush, message
from forebay.cli.slurm import advise as slurm_advise
from forebay.cli.slurm import agent as slurm_agent
from forebay.cli.slurm import predict as slurm_predict
from forebay.cli.slurm import snapshot as slurm_snapshot
from forebay.cli.slurm import watch as slurm_watch
from forebay.cli.workload import convert, fit_bb, generate, info, io, models, split
from forebay.cli.workload import list as workload_list
from forebay.errors import ForebayError, LongRunWarning, MetricWarning, shortened

STOPPED = 130
"""What shells report of a process ended by Ctrl-C."""
_ENDED = {128 + number: number for number in (signal.SIGTERM, signal.SIGHUP)}
"""And by these."""
_SOON = 0.02  # seconds

app = typer.Typer(
    name="forebay",
    cls=Group,
    rich_markup_mode=None,  # plain help is twice as fast, and a [ in it is a [
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
workload = typer.Typer(cls=Group)
slurm = typer.Typer(cls=Group)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"forebay {version('forebay')}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=examples("forebay compare", "forebay run table1 --policy fcfs-easy", "forebay run --help"),
)
def forebay(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Simulate and compare batch scheduling on machines with burst buffers."""
    _help_if_alone(context)


@workload.callback(invoke_without_command=True, epilog=examples("forebay workload info trace.swf.gz"))
def workload_group(context: typer.Context) -> None:
    """Describe, convert, split and generate workload files."""
    _help_if_alone(context)


@slurm.callback(invoke_without_command=True, epilog=examples("forebay slurm predict"))
def slurm_group(context: typer.Context) -> None:
    """Read, predict, watch and order the queue of a live Slurm."""
    _help_if_alone(context)


def _help_if_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _add(group: typer.Typer, module: Any, name: str) -> None:
    """A command is a module with `command` and EXAMPLES."""
    group.command(name, cls=Command, epilog=module.EXAMPLES)(module.command)


_add(app, run, "run")
_add(app, compare, "compare")
_add(app, explain, "explain")
_add(app, diverge, "diverge")
_add(app, fidelity, "fidelity")
_add(app, predict, "predict")
_add(app, bounds, "bounds")
_add(app, capacity, "capacity")
_add(app, plot, "plot")
_add(app, report, "report")
_add(app, study, "study")
_add(app, sweep, "sweep")
_add(app, elastisim, "elastisim")
_add(app, policies, "policies")
_add(app, platforms, "platforms")
_add(app, job_models, "job-models")
_add(app, formats, "formats")
_add(app, check_policy, "check-policy")
_add(app, warmup, "warmup")
app.add_typer(slurm, name="slurm")
_add(slurm, slurm_snapshot, "snapshot")
_add(slurm, slurm_predict, "predict")
_add(slurm, slurm_watch, "watch")
_add(slurm, slurm_advise, "advise")
_add(slurm, slurm_agent, "agent")
app.add_typer(workload, name="workload")
_add(workload, info, "info")
_add(workload, convert, "convert")
_add(workload, split, "split")
_add(workload, workload_list, "list")
_add(workload, generate, "generate")
_add(workload, models, "models")
_add(workload, fit_bb, "fit-bb")
_add(workload, io, "io")


def main(arguments: list[str] | None = None) -> None:
    """The console script: run a command and leave with its exit code."""
    # What is imported stays, some 180,000 objects. To look for garbage in them took a twentieth of a short run on the
    # way, and a tenth at its end.
    gc.set_threshold(250_000)
    atexit.register(gc.freeze)
    closed = _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character gets a ?, not an error
    hush(False)
    # A batch system's cancel and a closed terminal unwind like Ctrl-C, so that no temporary file stays.
    for number in _ENDED.values():
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    in_command()  # `forebay run ... | cat` ends with the run, whatever a policy starts
    usual, sys.unraisablehook = sys.unraisablehook, partial(_not_raised, sys.unraisablehook)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_warn, warnings.showwarning)
            code = _guarded(arguments)
    finally:
        sys.unraisablehook = usual
    if code == 0 and 1 in closed:
        _complain("stdout is closed: the answer went nowhere")
        code = 1
    sys.exit(code)


def _warn(usual: Any, text: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """A warning of ours is a line beside the answer; others show where they come from."""
    if issubclass(category, LongRunWarning | MetricWarning):
        message(f"forebay: {text}", style="yellow")
    else:
        usual(text, category, *where, **more)


def _not_raised(usual: Any, unraised: Any) -> None:
    """A signal that comes where Python drops what is raised, as when a compiler calls it, is sent once more."""
    number = signal.SIGINT if isinstance(unraised.exc_value, KeyboardInterrupt) else 0
    if isinstance(unraised.exc_value, SystemExit) and unraised.exc_value.code in _ENDED:
        number = _ENDED[unraised.exc_value.code]
    if not number:
        usual(unraised)
        return
    again = threading.Timer(_SOON, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _open_closed() -> list[int]:
    """Lead stdin, stdout and stderr nowhere where they are closed (`>&-`); returns which were.

    Else the next file that is opened takes their place, and what is printed lands in it.
    """
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    return closed


def _guarded(arguments: list[str] | None) -> int:
    """The command's exit code; whatever goes wrong becomes one message on stderr."""
    try:
        code = app(args=arguments, prog_name="forebay", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:  # `forebay policies | head -1`
        _forget_output()
        return 1
    except Exception as error:
        if os.environ.get("FOREBAY_DEBUG"):
            traceback.print_exc()
        text, code = _explained(error)
        _complain(text)
        try:
            sys.stdout.flush()
        except OSError:  # a full disk, say: what is left to write would fail again on the way out
            _forget_output()
    if code == STOPPED:
        _complain("stopped")
    return code if isinstance(code, int) else 0


def _forget_output() -> None:
    """Lead what stdout still holds nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explained(error: Exception) -> tuple[str, int]:
    """An exception as a message and an exit code."""
    if isinstance(error, ForebayError):
        return str(error), error.exit_code
    # Newer typers carry their own click, older ones use the package: usage errors of both can format themselves.
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "forebay"
        text = error.format_message().rstrip(".")
        return (f"{text}; see {path} --help" if text else ""), 2
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", 2
    if not os.environ.get("FOREBAY_DEBUG"):
        sys.stderr.write(plain("".join(traceback.format_exception(error)), LINES))
    return "this is a bug in forebay: please report it with the lines above", 1


def _complain(text: str) -> None:
    from rich.text import Text

    from forebay.cli._render.printing import console

    if text:
        line = Text.assemble(("forebay:", "bold red"), " ", shortened(plain(text, LINES)))
        console(stderr=True).print(line, soft_wrap=True)
