"""Who takes, keeps and gives back what, leg by leg, as a program says it."""

import numpy as np

from forebay.engine.build.program import Program
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


class Ledger:
    """What legs take when they start, keep for the next, and give back early."""

    def __init__(self, workload: Workload, platform: Platform, program: Program):
        held = program.demand.copy()  # what is left at the leg's end
        self.early_resource = np.full(len(program.seconds), -1, np.int32)
        self.early_amount = np.zeros(len(program.seconds), np.int64)
        for p in np.flatnonzero(program.release >= 0):
            leg, r = program.phase_leg[p], program.release[p]
            amount = held[leg, r] if program.released[p] < 0 else program.released[p]
            if amount > held[leg, r]:
                number = leg - program.first_leg[program.leg_job[leg]]
                raise InputError(
                    f"{workload.name}: job {workload.jobs['id'][int(program.leg_job[leg])]} gives back {amount} of "
                    f"{platform.resources[r]} at the end of a phase, and its leg {number} then holds {held[leg, r]}; "
                    "correct the amount"
                )
            if amount > 0:
                self.early_resource[p], self.early_amount[p] = r, amount
                held[leg, r] -= amount
        carried = np.zeros_like(held)  # what a leg found from the one before
        carried[1:] = np.where(program.carry[1:], np.minimum(held[:-1], program.demand[1:]), 0)
        carried[program.first_leg[:-1]] = 0
        self.demands = program.demand - carried
        self.carries = np.zeros_like(held)
        self.carries[:-1] = carried[1:]
