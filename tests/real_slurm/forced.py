"""What the policy slurm would do next, again and again, on a machine that goes on as the real one did.

A schedule is chaotic: a job that starts a second later changes all that follow. So each decision of ours is made on
what really ran: our starts are written down and undone, and jobs start when they really did. Needs the compiler off.
"""

import numpy as np

import forebay as fb
from forebay.core.codes import LogReason, Verb
from forebay.core.verbs import act_start, act_wake, take_picks_from
from forebay.policies._families.multifactor import Clock, Number
from forebay.policies._kernels.priority.multifactor import note_rates
from forebay.policies.slurm import Slurm
from real_slurm import log


def run_as_it_did(clocks, which, now):
    """Let the scheduler run that did so now, if one did, and no other."""
    clocks[Clock.BEGUN], clocks[Clock.CHANGED] = 1, 1
    clocks[Clock.BATCHED] = clocks[Clock.BATCH_DUE] = -np.inf if which == log.MAIN else np.inf
    clocks[Clock.FULL_DUE] = now if which == log.FULL else np.inf
    clocks[Clock.BACKFILLED] = -np.inf if which == log.BACKFILL else np.inf


class Timed(fb.Policy):
    """The policy itself, but its schedulers run when the real ones did; behind the last of these, always."""

    def __init__(self, cycles, **options):
        self._slurm, self._cycles = Slurm(look_every=0.0, **options), dict(cycles)

    def params_on(self, resources):
        return self._slurm.params_on(resources)

    def memory(self, n_jobs, n_resources):
        return self._slurm.memory(n_jobs, n_resources)

    def kernel(self):
        decide, asked = self._slurm.kernel(), set()

        def timed(state, params, memory, rng):
            now = float(state.clock[0]["now"])
            clocks = memory[1][:, Number.CLOCK]
            run_as_it_did(clocks, self._cycles.get(now), now)
            if now > max(self._cycles):
                clocks[Clock.BATCH_DUE] = clocks[Clock.BACKFILLED] = -np.inf
            decide(state, params, memory, rng)
            following = min((time for time in self._cycles if time > now), default=now)
            if following > now and following not in asked:
                asked.add(following)
                act_wake(state, following)

        return timed


class Forced(fb.Policy):
    """Starts jobs at given times, in the order of the job table, and remembers when the policy would have."""

    def __init__(self, starts, allocated, cycles=None, **options):
        """`cycles` are the real runs of schedulers as (time, which); without them the policy runs when it is due."""
        self._slurm, self._starts = Slurm(look_every=0.0, **options), np.asarray(starts, float)
        self._cycles = {} if cycles is None else dict(cycles)
        self._allocated = [[part.partition("-")[::2] for part in str(nodes or "").split()] for nodes in allocated]
        self.wanted = np.full(len(starts), np.nan)  # when the policy first would have started the job
        self.picked = [None] * len(starts)  # and where
        self._asked = -np.inf

    def params_on(self, resources):
        return self._slurm.params_on(resources)

    def memory(self, n_jobs, n_resources):
        return self._slurm.memory(n_jobs, n_resources)

    def kernel(self):
        decide = self._slurm.kernel()

        def forced(state, params, memory, rng):
            clocks = memory[1][:, Number.CLOCK]
            if self._cycles:
                run_as_it_did(clocks, self._cycles.get(float(state.clock[0]["now"])), state.clock[0]["now"])
            elif (self._starts == state.clock[0]["now"]).any() and clocks[Clock.BEGUN]:
                clocks[Clock.BATCH_DUE] = clocks[Clock.BACKFILLED] = -np.inf  # Slurm has run just now
                clocks[Clock.CHANGED] = 1
            decide(state, params, memory, rng)
            counts, now = state.counts[0], float(state.clock[0]["now"])
            rows = [
                (int(row["verb"]), int(row["job"]), float(row["time"]), self._of(state, row))
                for row in state.actions[: counts["n_actions"]]
            ]
            counts["n_actions"] = counts["n_picks"] = 0
            for verb, job, time, nodes in rows:
                if verb == Verb.START and np.isnan(self.wanted[job]):
                    self.wanted[job], self.picked[job] = now, nodes
                elif verb == Verb.WAKE and not self._cycles:
                    act_wake(state, time)
            for job in np.flatnonzero(self._starts == now):
                action, first = act_start(state, job, LogReason.IN_ORDER), int(counts["n_picks"])
                for pick in self._picks(job, len(state.inside.full) > 0):
                    state.picks[counts["n_picks"]] = pick
                    counts["n_picks"] += 1
                take_picks_from(state, action, first)
            if self._slurm.PriorityType == "multifactor":
                note_rates(state, memory)  # of who really runs
            following = min((time for time in (*self._starts, *self._cycles) if time > now), default=self._asked)
            if following != self._asked:
                self._asked = following
                act_wake(state, self._asked)

        return forced

    @staticmethod
    def _of(state, row):
        """The nodes that a start would have."""
        picks = state.picks[row["first_pick"] : row["first_pick"] + row["n_picks"]]
        shared = len(state.inside.full) > 0
        return {int(one["low"]) + k for one in picks for k in range(1 if shared else int(one["count"]))}

    def had(self, job):
        """The nodes that it really had."""
        return {int(low) + k for low, high in self._allocated[job] for k in range(int(high or low) - int(low) + 1)}

    def _picks(self, job, shared):
        """The nodes that a job really had, run by run; one by one where they are shared."""
        runs = [(int(low), int(high or low) - int(low) + 1) for low, high in self._allocated[job]]
        if shared:
            return sorted((low + k, 1, -1) for low, count in runs for k in range(count))
        return [(low, count, -1) for low, count in runs]
