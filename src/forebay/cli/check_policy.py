"""`forebay check-policy`: whether a policy keeps the rules that every policy must keep."""

import io
from contextlib import redirect_stdout
from typing import Annotated

import typer

from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, is_quiet, say, show, table
from forebay.errors import PolicyError

EXAMPLES = options.examples("forebay check-policy mine.py:Mine", "forebay check-policy fcfs-bb --head-never-delayed")


def command(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="A policy: mine.py:ClassName, or one by name.", autocompletion=completion.policy
        ),
    ],
    head_never_delayed: Annotated[
        bool,
        typer.Option(
            "--head-never-delayed", help="Check also that no decision delays the job that has waited longest, as EASY."
        ),
    ] = False,
    form: options.FormatOption = Format.text,
) -> None:
    """Test that a policy keeps the rules, and explain a breach.

    The policy is tried on many small workloads; a rule it breaks is shown on the smallest one that does.
    What the policy prints is not shown. Exit code 0 if it keeps every rule, 3 if not.
    """
    from forebay import _plugins, policies
    from forebay._run import compilation

    scheduler, policy = policies.load(policy), _plugins.spelled("policies", policy)
    compilation.prepare([scheduler], is_quiet())
    from forebay.testing import check_policy

    with redirect_stdout(io.StringIO()):  # it runs some three hundred times
        report = check_policy(policy, head_never_delayed=head_never_delayed)
    if form is Format.json:
        checks = [{"name": name, "ok": ok, "text": text} for name, ok, text in report.checks]
        document = {"policy": policy, "passed": report.passed, "verdict": report.verdict, "checks": checks}
        answer({**document, "explanation": report.explanation, "tried": report.tried.as_json()})
    else:
        rows = [("✓" if ok else "✗", name, text) for name, ok, text in report.checks]
        show(table(["", "rule", "what it asks"], rows))
        say(f"\n{report.tried.text()}")
        say(f"\n{report.verdict}" if report.passed else f"\n{report.explanation}\n")
    if not report.passed:
        raise PolicyError(report.verdict)
