"""A process of its own that outlives the agent: if nothing is heard of it for a time, Slurm gets its order back.

It goes by how long the same heartbeat stands there on its own clock, so that clocks that jump change nothing.
"""

import sys
import time
from pathlib import Path

from forebay._live.agent.ledger import Ledger
from forebay._live.commands import Slurm
from forebay.errors import ForebayError

OVER = "over"


def watch(folder: Path, expiry: float, step: float = 0.5) -> None:
    """Until the agent says that it is over, or is silent for `expiry` seconds; then undo, as soon as Slurm answers."""
    ledger = Ledger(folder)
    try:
        ledger.lock("guard")
    except ForebayError:
        return  # there is one
    heard, since = ledger.heard(), time.monotonic()
    while time.monotonic() - since < expiry:
        time.sleep(step)
        now = ledger.heard()
        if now == OVER:
            return
        if now != heard:
            heard, since = now, time.monotonic()
    while True:
        try:
            ledger.undo(Slurm())
        except (ForebayError, OSError):
            time.sleep(5)
        else:
            return


if __name__ == "__main__":
    watch(Path(sys.argv[1]), float(sys.argv[2]))
