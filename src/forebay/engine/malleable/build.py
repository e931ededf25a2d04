"""Jobs in rounds, in the tables of a run."""

import numpy as np

from forebay.engine.build.program import Program


def sizes_of(program: Program) -> dict[str, int]:
    """How large tables of State are."""
    if program.rounds is None:
        return {}
    return {"flexible": len(program.rounds.jobs), "sizes": len(program.rounds.sizes)}


def fill_scripts(scripts: np.ndarray, program: Program) -> None:
    """A leg with rounds takes as long as these do, and ends before its detours."""
    if program.rounds is not None:
        scripts["last_phase"], scripts["seconds"] = program.rounds.detours[:, 0], np.inf
