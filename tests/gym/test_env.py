"""The environment: Gymnasium's own checker, and runs that are those of policies."""

import numpy as np
import pytest

import forebay as fb
from cases import classes, dependent, pooled, transfers
from forebay.errors import InputError, OversubscribedError
from forebay.workload import models

gymnasium = pytest.importorskip("gymnasium", reason='needs the extra "gym"')
from gymnasium.utils.env_checker import check_env  # noqa: E402

from forebay.gym import SchedulingEnv  # noqa: E402

pytestmark = pytest.mark.small


def episode(env, choose, seed=None):
    """All rewards of an episode."""
    observed, info = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        observed, reward, over, truncated, info = env.step(choose(observed, info["action_mask"]))
        assert not truncated
        rewards.append(reward)
    return rewards


def first(_, mask):
    return int(mask.argmax())


def small(seed):
    return pooled.make(seed % 5, legs=False)[0]


@pytest.mark.parametrize("backfill", [False, True])
@pytest.mark.filterwarnings("ignore:.*Box observation space maximum value is infinity.*")
def test_gymnasiums_checker(backfill):
    check_env(SchedulingEnv("table1", window=3, backfill=backfill), skip_render_check=True)


@pytest.mark.parametrize("policy", ["filler", "fcfs-bb"])
def test_the_first_in_the_window_is_a_known_policy(policy):
    """The first that fits, in order of arrival, is `filler`; the first of all with backfilling is `fcfs-bb`."""
    for seed in range(4):
        made, platform = pooled.make(seed, legs=False)
        rewards, wanted = both(made, platform, policy)
        begun = wanted.jobs["waiting_time"].drop_nulls()
        assert -sum(rewards) == pytest.approx(begun.sum() / len(made))


@pytest.mark.parametrize("policy", ["filler", "fcfs-bb"])
@pytest.mark.parametrize("make", [pooled.make, classes.make, dependent.make, transfers.make])
def test_on_every_kind_of_machine(make, policy):
    """Legs, kinds of nodes and shared ones, jobs that wait for others, chunks."""
    for seed in range(6):
        made, platform, *_ = make(seed)
        both(made, platform, policy)


def both(made, platform, policy):
    """The rewards of always choosing the first, and the run of the policy that it equals."""
    env = SchedulingEnv(made, platform, window=100, backfill=policy == "fcfs-bb")
    rewards, wanted = episode(env, first), fb.simulate(made, platform, policy)
    assert env.result().jobs["starting_time"].equals(wanted.jobs["starting_time"])
    return rewards, wanted


def test_any_metric_is_a_reward():
    env = SchedulingEnv("table1", reward="-mean_waiting_time")
    rewards = episode(env, first)
    assert rewards[:-1] == [0] * (len(rewards) - 1)
    assert rewards[-1] == -fb.summary(env.result())["mean_waiting_time"]
    grown = episode(SchedulingEnv("table1", reward=lambda sim: sim.now), first)
    assert sum(grown) == 660
    assert len(set(grown)) > 2


def test_slowdowns_are_rewarded_as_jobs_end():
    made, platform = pooled.make(3, legs=False)
    env = SchedulingEnv(made, platform, reward="slowdown", backfill=True)
    rewards = episode(env, first)
    ended = fb.summary(env.result())
    n = env.result().jobs["starting_time"].count()
    assert -sum(rewards) == pytest.approx(ended["mean_bounded_slowdown_10s"] * n / len(made))
    assert np.count_nonzero(rewards) > 2


@pytest.mark.parametrize("reward", [lambda sim: float("nan"), lambda sim: "much", lambda sim: None])
def test_a_reward_that_is_no_number(reward):
    with pytest.raises(InputError, match=r"the reward .* is .* at t = 0 s; give a finite number"):
        SchedulingEnv("table1", reward=reward).reset()
    with pytest.raises(InputError, match="the reward"):
        SchedulingEnv("table1", reward=17)
    with pytest.raises(InputError, match="unknown metric 'nonsense'"):
        SchedulingEnv("table1", reward="-nonsense")
    with pytest.raises(InputError, match="the summary has no number 'mean_wating_time': did you mean"):
        episode(SchedulingEnv("table1", reward="-mean_wating_time"), first)


def test_masks():
    env = SchedulingEnv("table1", window=3)
    _, info = env.reset()
    assert info["action_mask"].tolist() == [1, 1, 0, 0]  # two wait, nothing runs: time may not go on
    _, _, _, _, info = env.step(1)
    assert info["action_mask"].tolist() == [1, 0, 0, 1]
    assert info["time"] == 0
    rng = np.random.default_rng(1)
    for seed in range(3):
        made, platform = pooled.make(seed, legs=False)
        env = SchedulingEnv(made, platform, window=5, strict=True)
        episode(env, lambda _, mask: int(rng.choice(np.flatnonzero(mask))))
        assert env.result().jobs.height == len(made)


def test_what_the_mask_forbids():
    env = SchedulingEnv("table1", window=3, strict=True)
    env.reset()
    with pytest.raises(OversubscribedError, match=r"action 2 is none that the mask allows; choose among \[0, 1\]"):
        env.step(2)
    with pytest.raises(InputError, match="action 9: give a whole number from 0 to 3"):
        env.step(9)
    lenient = SchedulingEnv("table1", window=3)
    lenient.reset()
    assert lenient.step(2)[4]["time"] == 0  # something starts
    episode(env, first)
    with pytest.raises(InputError, match=r"the episode is over; call reset\(\)"):
        env.step(0)


def test_seeds_draw_episodes():
    made = models.generate("lublin99:load=1.0,nodes=16", 1, jobs=60)
    env = SchedulingEnv(made, "flat:nodes=16", jobs=10)
    ids = [tuple(_ids(env, seed)) for seed in (1, 2, 1, None)]
    assert ids[0] == ids[2] != ids[1]
    assert len(set(ids)) == 3
    assert all(len(one) == 10 for one in ids)
    drawn = SchedulingEnv(lambda seed: models.generate("lublin99:load=1.0,nodes=16", seed, jobs=5), "flat:nodes=16")
    submits = []
    for seed in (1, 2, 1):
        drawn.reset(seed=seed)
        submits.append(tuple(drawn.sim.workload.jobs["submit"]))
    assert submits[0] == submits[2] != submits[1]


def _ids(env, seed):
    env.reset(seed=seed)
    return env.sim.workload.jobs["id"].to_list()


def test_nobody_looks_ahead():
    """What a learner sees does not depend on how long jobs really run, until they have ended."""
    made, platform = pooled.make(2, legs=False)
    env = SchedulingEnv(made, platform, window=8)
    observed, info = env.reset()
    shown = int((observed["jobs"][:, 0] > 0).sum())
    assert shown == int((made.jobs["submit"] <= info["time"]).sum())


def test_mistakes():
    for wrong, says in (({"window": 0}, "the window"), ({"jobs": 9}, "jobs is 9"), ({"jobs": 0}, "jobs is 0")):
        with pytest.raises(InputError, match=says):
            SchedulingEnv("table1", **wrong)
    with pytest.raises(InputError, match="what the workload's function made"):
        SchedulingEnv(lambda seed: seed, "flat:nodes=4")
