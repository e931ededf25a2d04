"""Jobs hold what they ask for and compute; nothing is transferred. Killed at their walltime.

The Alloc-Only model of Kopański & Rządca (2021): one compute phase, in which nodes communicate. Jobs with legs or
phases of their own go through them, each phase taking the time that is written.
"""

from forebay.engine.build.program import Program, as_written, one_leg_each
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


def program(workload: Workload, platform: Platform, kill: bool = True) -> Program:
    """`kill=false` lets jobs run past their walltime."""
    if workload.legs is None and workload.phases is None:
        return one_leg_each(workload, platform, kill)
    program = as_written(workload, platform, kill, move=False)
    if workload.phases is not None and (workload.phases["bytes"] > 0).any():
        program.notes.append("nothing is moved in job model alloc-only: phases take the seconds that are written")
    return program
