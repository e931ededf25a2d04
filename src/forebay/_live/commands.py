"""Slurm's commands, called with a time limit and without a shell, in one language and one time zone."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from forebay.errors import ForebayError, brief

LIMIT = 10.0
"""Seconds that a command may take."""
_ALIKE = {"LC_ALL": "C", "TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "SLURM_BITSTR_LEN": "0"}
_OURS = re.compile(r"(?:SQUEUE|SINFO|SCONTROL|SPRIO|SSHARE)_\w+")
"""Variables by which users change what these commands print."""


class SlurmError(ForebayError):
    """Slurm is absent, does not answer, or refuses."""


@dataclass(frozen=True)
class Slurm:
    """The commands of the Slurm of this machine."""

    limit: float = LIMIT
    more: dict[str, str] = field(default_factory=dict)  # variables, for tests

    def ask(self, program: str, *arguments: str, send: str | None = None) -> str:
        """What a command prints; SlurmError if it is absent, late or fails."""
        done = self.tried([program, *arguments], send)
        if done.returncode:
            said = done.stderr.strip() or done.stdout.strip()
            raise SlurmError(f"{program} {arguments[0] if arguments else ''}: {_meant(said, done.returncode)}")
        return done.stdout

    def tried(self, command: Sequence[str], send: str | None = None) -> "subprocess.CompletedProcess[str]":
        """A command that may fail."""
        try:
            return subprocess.run(
                list(command),
                input=send,
                stdin=subprocess.DEVNULL if send is None else None,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.limit,
                env=self.environment(),
                check=False,
            )
        except FileNotFoundError:
            raise SlurmError(
                f"there is no command {command[0]} on this machine; run where Slurm's commands are, or set PATH"
            ) from None
        except subprocess.TimeoutExpired:
            raise SlurmError(
                f"{command[0]} did not answer in {self.limit:g} s; is slurmctld up (scontrol ping)?"
            ) from None
        except OSError as error:
            raise SlurmError(f"{command[0]} cannot be run: {error.strerror or error}") from None

    def now(self) -> float:
        """What time it is for Slurm, which need not be the clock of this process."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait, on the same clock."""
        time.sleep(max(seconds, 0.0))

    def environment(self) -> dict[str, str]:
        """Variables of the commands."""
        kept = {name: value for name, value in os.environ.items() if not _OURS.fullmatch(name)}
        return kept | _ALIKE | self.more


def _meant(said: str, code: int) -> str:
    """What a complaint of Slurm's comes to."""
    first = brief(said.splitlines()[0]) if said else f"ended with {code}"
    low = said.lower()
    if "unable to contact slurm controller" in low or "connection refused" in low:
        return f"slurmctld does not answer; is it up (scontrol ping)? It said {first}"
    if "access/permission denied" in low or "permission denied" in low:
        return f"no permission: this needs AdminLevel=Operator in Slurm's accounts (sacctmgr). It said {first}"
    return f"it said {first}"
