"""A first check of a user's kernel with the compiler off, in a process of its own: it names the line that is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba

from forebay._numba.folder import is_ours
from forebay.errors import ForebayError
from forebay.testing.lines import Lines
from forebay.testing.report import Check, Report, Tried

_CODE = """
import sys
sys.path.append(sys.argv[1])
from forebay.testing.child import answer
answer(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "True")
"""


def has_own_kernel(policy: Any) -> bool:
    """Whether a policy is compiled from a user's own source, and the compiler is on."""
    kernel = policy.kernel() if hasattr(policy, "kernel") else None
    return kernel is not None and not numba.config.DISABLE_JIT and not is_ours(kernel.py_func)


def check_without_compiler(spec: str, seed: int, n_cases: int, head_never_delayed: bool = False) -> Report:
    """What `check_policy` finds in a process where nothing is compiled."""
    words = spec, str(seed), str(n_cases), str(head_never_delayed)
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CODE, str(Path(__file__).parents[2]), *words],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ForebayError(f"{spec} could not be checked with the compiler off:\n{done.stderr.rstrip()}")
    found = json.loads(done.stdout.splitlines()[-1])
    tried, lines = found["tried"], found["tried"]["lines"]
    known = lines and Lines(lines["file"], tuple(lines["all"]), tuple(lines["never"]))
    met = Tried(tried["cases"], tried["verbs"], tuple(tried["triggers"]), known)
    return Report(spec, [Check(*check) for check in found["checks"]], found["explanation"], met)
