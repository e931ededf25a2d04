"""What holds for every model of workloads: a file dropped into the folder is tested without a word more."""

import dataclasses

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.core.schemas import JOB_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload import models

every = pytest.mark.parametrize("name", models.names())


def made(spec, seed=1):
    """The model's workload; one that attaches is given jobs that lack nothing but what it gives."""
    name = spec.partition(":")[0]
    if models.describe(name)["kind"] == "generate":
        return models.generate(spec, seed, jobs=300)
    before = [] if name == "burst-buffer" else ["burst-buffer"]
    return models.attach(models.attach(models.generate("lublin99", 5, jobs=300), before, 5), [spec], seed)


@every
def test_it_says_what_it_is(name):
    about = models.describe(name)
    assert len(about["description"]) > 20
    assert about["parameters"]
    assert all(isinstance(value, int | float | str) for value in about["parameters"].values())


def tables(w):
    """All that a model can have drawn: of jobs, and of their applications."""
    drawn = w.applications
    return [w.jobs, *([getattr(drawn, one.name) for one in dataclasses.fields(drawn)] if drawn else [])]


@every
def test_the_same_seed_makes_the_same_jobs(name):
    first, again, other = (tables(made(name, seed)) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        assert_frame_equal(one, two, check_exact=True)
    assert not all(one.equals(two) for one, two in zip(first, other, strict=True))


@every
def test_jobs_are_valid(name):
    w = made(name)
    jobs = w.jobs
    assert len(jobs) == 300
    assert jobs["id"].n_unique() == 300
    assert jobs["submit"].is_sorted()
    assert jobs["submit"][0] == 0
    assert jobs["nodes"].min() >= 1
    assert (jobs["run_time"] + jobs["flop"]).min() > 0
    for column in ("walltime", "communication", "flop", *w.resources):
        assert jobs[column].min() >= 0
    assert {column: jobs.schema[column] for column in JOB_SCHEMA} == JOB_SCHEMA
    assert all(np.isfinite(jobs[column].to_numpy()).all() for column in jobs.columns if column != "cancel")
    assert jobs["cancel"].is_infinite().all()
    assert "seed 1" in w.provenance[-1]


@every
def test_no_global_random_numbers_are_used(name):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    made(name)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@every
def test_every_parameter_is_checked(name):
    """Not a number is never a sensible value, nor is a word; the message names the parameter."""
    for key, value in models.describe(name)["parameters"].items():
        if isinstance(value, float):
            with pytest.raises(InputError, match=rf"\b{key} is nan"):
                made(f"{name}:{key}=nan")
        with pytest.raises(InputError, match=rf"{key}.*'plenty'"):
            made(f"{name}:{key}=plenty")


@every
def test_a_misspelt_parameter_gets_its_neighbours(name):
    key = next(iter(models.describe(name)["parameters"]))
    with pytest.raises(InputError, match=f"did you mean '{key}'"):
        made(f"{name}:{key}x=1")


def test_models_do_not_share_draws():
    streams = [models.stream(7, name).random(4) for name in models.names()]
    streams += [models.stream(7, "lublin99", 1).random(4), models.stream(8, "lublin99").random(4)]
    assert len({tuple(draws) for draws in streams}) == len(streams)
    assert (models.stream(7, "io_phases").random(4) == models.stream(7, "io-phases").random(4)).all()


def test_another_model_before_it_does_not_change_what_one_draws():
    jobs = models.generate("lublin99:jobs=200", 1)
    alone = models.attach(jobs, ["tsafrir05"], 3).jobs["walltime"]
    assert models.attach(jobs, ["burst-buffer", "tsafrir05"], 3).jobs["walltime"].equals(alone)


def test_kinds_are_not_mixed_up():
    with pytest.raises(InputError, match=r"makes no jobs.*feitelson96, lublin99"):
        models.generate("burst-buffer", 0)
    with pytest.raises(InputError, match=r"a workload of its own.*burst-buffer"):
        models.attach(fb.read("table1"), ["lublin99"], 0)
    with pytest.raises(InputError, match="did you mean 'lublin99'"):
        models.generate("lublin98", 0)
    with pytest.raises(InputError, match="seed is -1"):
        models.generate("lublin99", -1)


@pytest.mark.parametrize("name", ["burst-buffer", "flexible", "io-phases", "io-share", "tsafrir05"])
def test_jobs_in_steps_are_refused(name):
    stepped = dataclasses.replace(models.generate("lublin99:jobs=5", 0), phases=pl.DataFrame(schema=PHASE_SCHEMA))
    with pytest.raises(InputError, match="legs or phases"):
        models.attach(stepped, [name], 0)
