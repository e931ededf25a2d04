"""The process that checks a policy with the compiler off."""

import json
import sys

from forebay.testing.check import check_policy


def answer(spec: str, seed: int, n_cases: int, head_never_delayed: bool) -> None:
    """Check a policy, and write what is found as JSON."""
    report = check_policy(spec, seed, n_cases, head_never_delayed)
    document = {"checks": report.checks, "explanation": report.explanation, "tried": report.tried.as_json()}
    sys.stdout.write(json.dumps(document) + "\n")
