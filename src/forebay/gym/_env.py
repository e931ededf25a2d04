"""The environment: which of the waiting jobs goes next?"""

from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from forebay._run.simulation import Simulation, Snapshot, open_run
from forebay.errors import InputError, OversubscribedError, wrong_type
from forebay.gym._observe import machine_of, n_job_features, n_machine_features, window_of
from forebay.gym._reward import finite, of_result, score_of
from forebay.platforms import load as load_platform
from forebay.platforms.platform import Platform
from forebay.workload import Workload, read
from forebay.workload.operations import only

Source = Workload | str | PathLike[str] | Callable[[int], Workload]


class SchedulingEnv(gymnasium.Env[dict[str, np.ndarray], int]):  # type: ignore[misc]
    """Pick the next job, again and again, until all have ended.

    An action is a place in the window of waiting jobs, in order of arrival. A job that fits starts at once, and the
    next action is asked for in the same instant. With `backfill`, a job that does not fit gets the one reservation, all
    that does not delay it starts in order of arrival, and time goes on; without it, the last action, behind the window,
    lets time go on. Nothing but what a scheduler knows is shown.

    Parameters
    ----------
    workload
        As for `forebay.simulate`; or a function that makes one of a seed, drawn at each reset.
    platform, job_model
        As for `forebay.simulate`.
    jobs
        Of a trace, an episode is so many consecutive jobs, from a random one on; without it, all.
    window
        How many waiting jobs are shown.
    backfill
        Whether a chosen job that does not fit is reserved for, and others fill in.
    reward
        "waiting": minus the seconds that jobs have waited since the last step, per job of the workload; their sum is
        minus the mean waiting time. "slowdown": minus the bounded slowdowns (10 s) of jobs that have ended since, per
        job. Or a number of `forebay.summary`, given at the end, with a minus where less is better: "-makespan". Or a
        function of the `Simulation` so far: steps give how much it has grown.
    strict
        Whether an action that the mask forbids is an error. Otherwise it counts as letting time go on, or where that is
        forbidden as starting the first job that fits.
    render_mode
        None: there is nothing to draw; see `forebay.figures` for pictures of `result()`.

    Notes
    -----
    The mask is in `info["action_mask"]` and from `action_masks()`. Letting time go on is forbidden while nothing runs
    and a job fits: a run would wait for ever.

    Examples
    --------
    >>> from forebay.gym import SchedulingEnv
    >>> env = SchedulingEnv("table1", window=4, backfill=True)
    >>> _, info = env.reset()
    >>> total, over = 0.0, False
    >>> while not over:
    ...     _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
    ...     total += reward
    >>> round(-total, 3) == round(env.result().jobs["waiting_time"].mean(), 3)
    True
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        workload: Source,
        platform: str | PathLike[str] | Platform | None = None,
        jobs: int | None = None,
        window: int = 32,
        backfill: bool = False,
        reward: Any = "waiting",
        job_model: str | None = None,
        strict: bool = False,
        render_mode: None = None,
    ):
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise wrong_type("the window", window, "a number of jobs from 1 up")
        self._make = workload if callable(workload) else None
        self._trace = None if callable(workload) else workload if isinstance(workload, Workload) else read(workload)
        self._platform = None if platform is None else load_platform(platform)
        if jobs is not None and (self._trace is None or not 0 < jobs <= len(self._trace)):
            raise InputError(f"jobs is {jobs}; give how many jobs of a trace an episode has, or leave it out")
        self._n_jobs, self._window, self._backfill, self._strict = jobs, window, backfill, strict
        self._score, self._metric = score_of(reward)
        self._job_model = job_model
        self._whole: Snapshot | None = None  # of a workload that is always the same
        self._sim = self._opened(0)
        n = len(self._sim.view.resources)
        top = np.float32(np.inf)
        self.observation_space = spaces.Dict(
            {
                "jobs": spaces.Box(0, top, (window, n_job_features(n)), np.float32),
                "machine": spaces.Box(0, top, (n_machine_features(n),), np.float32),
            }
        )
        self.action_space = spaces.Discrete(window + (not backfill))
        self._last, self._shown, self._started = 0.0, list[int](), set[int]()

    @property
    def sim(self) -> Simulation:
        """The run under way."""
        return self._sim

    def result(self) -> Any:
        """Of an episode that is over: its `Result`."""
        return self._sim.result()

    def _opened(self, seed: int) -> Simulation:
        if self._make is not None:
            made = self._make(seed)
            if not isinstance(made, Workload):
                raise wrong_type("what the workload's function made", made, "a Workload")
            return open_run(made, self._platform, job_model=self._job_model)
        assert self._trace is not None
        trace = self._trace
        if self._n_jobs is not None:
            first = seed % (len(trace) - self._n_jobs + 1)
            trace = only(trace, trace.jobs.slice(first, self._n_jobs))
        elif self._whole is not None:
            return self._sim.restore(self._whole)
        sim = open_run(trace, self._platform, job_model=self._job_model)
        if self._n_jobs is None:
            self._whole = sim.snapshot()
        return sim

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin an episode; a seed draws the same one again."""
        super().reset(seed=seed)
        draw: int = int(self.np_random.integers(2**31))
        self._sim = self._opened(draw)
        self._go_on(step=False)
        self._last = self._now_worth()
        return self._observed(), self._info()

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take the job in this place of the window, or let time go on."""
        if self._is_over():
            raise InputError("the episode is over; call reset()")
        if not self.action_space.contains(action):
            raise InputError(f"action {action!r}: give a whole number from 0 to {self.action_space.n - 1}")
        mask, place = self.action_masks(), int(action)
        if not mask[place]:
            if self._strict:
                raise OversubscribedError(
                    f"at t = {self._sim.now:.10g} s action {place} is none that the mask allows; choose among "
                    f"{np.flatnonzero(mask).tolist()}"
                )
            place = self._instead(mask)
        self._take(place)
        worth = self._now_worth()
        reward, self._last = worth - self._last, worth
        if self._metric and self._sim.over:
            reward = of_result(self._sim, self._metric)
        return self._observed(), reward, self._sim.over, False, self._info()

    def _is_over(self) -> bool:
        return self._sim.over

    def _take(self, place: int) -> None:
        if place < len(self._shown) and self._starts(self._shown[place]) and self._choices():
            return
        self._go_on()

    def _starts(self, job: int) -> bool:
        """Start the chosen job, if it can; else, with backfilling, all that does not delay it."""
        act = self._sim.act
        if not self._backfill:
            act.start(job)
        elif not act.backfill([job]):
            act.backfill([job, *(other for other in self._waiting() if other != job)])
            return False
        self._started.add(job)
        return True

    def _instead(self, mask: np.ndarray) -> int:
        """What an action that cannot be is taken for."""
        return self._window if not self._backfill and mask[self._window] else int(mask.argmax())

    def _go_on(self, step: bool = True) -> None:
        """To the next decision at which there is a choice."""
        sim = self._sim
        if step:
            sim.step()
        self._started = set()
        while not sim.over and not self._choices():
            sim.step()
            self._started = set()

    def _choices(self) -> bool:
        """Whether there is anything to choose, of jobs that still wait; notes those of the window."""
        self._shown = self._waiting()[: self._window]
        return bool(self._shown) and (self._backfill or any(map(self._sim.act.fits, self._shown)))

    def _waiting(self) -> list[int]:
        return [job for job in self._sim.view.queue.tolist() if job not in self._started]

    def action_masks(self) -> np.ndarray:
        """What can be done: of each action, 1 or 0."""
        mask = np.zeros(int(self.action_space.n), np.int8)
        if self._sim.over:
            return mask
        act = self._sim.act
        for place, job in enumerate(self._shown):
            mask[place] = self._backfill or act.fits(job)
        if not self._backfill:
            idle = not len(self._sim.view.running) and not self._started
            mask[self._window] = not (idle and mask.any())
        return mask

    def _now_worth(self) -> float:
        if self._score is None:
            return 0.0
        name = getattr(self._score, "__name__", type(self._score).__name__)
        return finite(self._score(self._sim), name, self._sim)

    def _observed(self) -> dict[str, np.ndarray]:
        sim = self._sim
        if sim.over:
            return {name: np.zeros(box.shape, np.float32) for name, box in self.observation_space.items()}
        return {
            "jobs": window_of(sim.view, sim.act, self._shown, self._window),
            "machine": machine_of(sim.view, sim.act),
        }

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.action_masks(), "time": self._sim.now}
        return info

    def close(self) -> None:
        """Let the run go."""
        self._sim.close()
