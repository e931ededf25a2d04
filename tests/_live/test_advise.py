"""Advice: what it prints is safe for a shell, comes out of the plan, and can be taken back."""

import json
import os
import random
import re
import subprocess
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _live.acted import START, Acted
from _live.test_page import NASTY
from cases.chunks import examples
from forebay._live.advise import text
from forebay._live.advise.effects import ALL, Change, Effect
from forebay._live.advise.lines import lines_of
from forebay._live.advise.order import Nice, OrderAdvice, nices, order_advice
from forebay._live.advise.settings import SettingsAdvice, Won, settings_advice
from forebay._live.jobs import LiveJob
from forebay._live.snapshot import moment
from forebay._live.watch.record import Record
from forebay.errors import InputError

FIRST = 4_294_901_759
SCHED, PART = "+SchedulerParameters=", "scontrol update PartitionName=main "
QOS = "sacctmgr -i modify qos where name=normal set "


@pytest.mark.small
def test_nice_makes_the_order_and_moves_no_more_than_it_has_to():
    rng = random.Random(5)
    for _ in range(200):
        n, step = rng.randint(1, 8), rng.choice((1, 1000))
        jobs = {
            k: LiveJob(k, "PENDING", priority=rng.randint(10**6, 2 * 10**6), nice=rng.randint(-5, 5)) for k in range(n)
        }
        order = rng.sample(range(n), n)
        found = nices(order, jobs, step)
        after = {k: job.priority for k, job in jobs.items()}
        for number, before, new in found:
            assert (before, new > before) == (jobs[number].nice, True)  # only ever behind others
            after[number] -= new - before
        values = [after[number] for number in order]
        assert all(a - b >= step for a, b in pairwise(values))
        # No job could keep more of its priority: it is the least of what was before it, and its own.
        for place, number in enumerate(order):
            most = min(jobs[one].priority - step * (place - k) for k, one in enumerate(order[: place + 1]))
            assert after[number] == most


@pytest.fixture(scope="module")
def advised(tmp_path_factory):
    """One node, on which an hour, half an hour and ten minutes wait in this order."""
    slurm = Acted(tmp_path_factory.mktemp("advised") / "slurm", 1)
    row = {"user_name": "ann", "partition": "main", "node_count": 1, "cpus": 1, "submit_time": int(START) - 100}
    jobs = [row | {"job_id": 1, "job_state": "RUNNING", "start_time": int(START) - 60, "time_limit": 5, "priority": 9}]
    for number, minutes, user in ((2, 60, "bob"), (3, 30, "$(reboot)"), (4, 10, "cem")):
        more = {"job_id": number, "job_state": "PENDING", "time_limit": minutes, "user_name": user}
        jobs.append(row | more | {"priority": FIRST - number, "submit_time": int(START) - 100 + number})
    jobs.append(
        row | {"job_id": 5, "job_state": "PENDING", "time_limit": 1, "priority": 0, "state_reason": "JobHeldUser"}
    )
    slurm.show(jobs)
    return order_advice(moment(slurm), "plan-2", [], 6, 0)


def test_an_order_with_what_it_changes(advised):
    assert [(one.job, one.before, one.after) for one in advised.lines] == [(3, 0, 2), (2, 0, 4)]
    effect = advised.effect
    # By walltimes: waits of 4, 64 and 94 min become 4, 14 and 44; run times are not known, so no longer than that.
    assert effect.all.after < effect.all.before
    assert effect.all.low <= effect.all.high < 0
    assert [one.who for one in effect.losers] == ["bob"]
    assert effect.losers[0].after > effect.losers[0].before


def test_a_shell_takes_it_and_runs_scontrol_alone(advised, tmp_path):
    """The whole text, given to a shell, calls scontrol with numbers, and nothing else."""
    program = tmp_path / "scontrol"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/done"\n')
    program.chmod(0o755)
    said = "\n".join(text.order_lines(advised))
    subprocess.run(["sh"], input=said, text=True, check=True, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (tmp_path / "done").read_text() == "update job=3 nice=2\nupdate job=2 nice=4\n"
    assert "# scontrol update job=3 nice=0" in said


@settings(deadline=None, max_examples=examples(100))
@given(st.one_of(st.sampled_from((*NASTY, "\nreboot", "a;b", "`x`")), st.text(max_size=30)))
def test_no_word_of_a_user_is_in_a_command(name):
    change = Change(name, 1, 60.0, 90.0, 0.0, 60.0)
    order = OrderAdvice(name, 2, [Nice(7, 0, 3, 60.0)], Effect(change._replace(who=ALL), [change], 4))
    verdict = {"change": -0.1, "low": -0.2, "high": -0.05, "verdict": "better"}
    won = Won("bf_window", "2880", lines_of("bf_window", "2880", {}), "", verdict, verdict, [(name, 1.0, name)])
    some = SettingsAdvice([won, won._replace(lines=None, why_not=name)], 3, 40, START, START, name, {name: name})
    lines = "\n".join([*text.order_lines(order), *text.settings_lines(some)]).splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands == ["scontrol update job=7 nice=3  # planned to start in 1 min"]
    assert all(re.fullmatch(r"[\x20-\x7e]*", line) for line in lines)


@pytest.mark.small
@pytest.mark.parametrize(
    ("key", "value", "before", "do", "undo"),
    [
        ("bf_licenses", "true", (), f"{SCHED}bf_interval=30,bf_licenses", f"{SCHED}bf_interval=30"),
        ("bf_interval", "60", (), f"{SCHED}bf_interval=60", f"{SCHED}bf_interval=30"),
        ("bf_interval", "false", (), SCHED, f"{SCHED}bf_interval=30"),
        ("weights.Age", "500", (), "+PriorityWeightAge=500", "+PriorityWeightAge=100"),
        ("limits.qos.normal.MaxJobsPerUser", "4", ("8",), f"{QOS}MaxJobsPerUser=4", f"{QOS}MaxJobsPerUser=8"),
        ("partitions.main.max_time", "none", ("60",), f"{PART}MaxTime=UNLIMITED", f"{PART}MaxTime=60"),
    ],
)  # fmt: skip
def test_lines_for_settings(key, value, before, do, undo):
    found = lines_of(key, value, {"schedulerparameters": "bf_interval=30", "priorityweightage": "100"}, before)
    assert (found.do[-1], found.undo[-1]) == (do, undo)
    if found.file:  # the one is the other, turned round
        assert [line.translate({43: 45, 45: 43}) for line in found.do[2:]] == found.undo[2:][::-1]


@pytest.mark.small
def test_parameters_stay_where_they_stand():
    found = lines_of("bf_window", "2880", {"schedulerparameters": "bf_interval=30,bf_window=1440,defer"})
    assert found.do[-1] == f"{SCHED}bf_interval=30,bf_window=2880,defer"


@pytest.mark.small
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nodes", "64"), ("classes.gpu.nodes", "4"), ("look_every", "0"), ("bf_window", "1;reboot"),
        ("limits.qos.$(x).MaxJobs", "1"),
    ],
)  # fmt: skip
def test_what_is_no_setting(key, value):
    with pytest.raises(InputError):
        lines_of(key, value, {})


@pytest.fixture(scope="module")
def recorded_days(tmp_path_factory):
    """Jobs on 4 nodes of which small ones fit beside large ones, if only backfill looks for them more often."""
    folder = tmp_path_factory.mktemp("recorded")
    record, rng = Record(folder), random.Random(3)
    rows, submit = [], START
    for number in range(1, 61):
        submit += rng.expovariate(1 / 120)
        took = rng.choice((120, 300, 900))
        row = {"id": number, "submit": int(submit), "start": int(submit) + 60, "end": int(submit) + 60 + took}
        row |= {
            "nodes": rng.choice((1, 1, 2, 4)),
            "walltime": 2.0 * took,
            "user": rng.choice(("ann", "bob")),
            "name": "x",
        }
        rows.append([START, str(number), number, "COMPLETED", json.dumps(row)])
    machine = {"name": "brook", "classes": {"n": {"names": "n[0-3]", "nodes": 4, "cores": 1}}}
    site = {
        "machine": machine,
        "policy": "slurm:bf_interval=1200",
        "settings": {"schedulerparameters": "bf_interval=1200"},
    }
    record.keep("site.json", site)
    record.add(START, {"cycles": [[START, 0, 0, 4, 0, 0.1]], "jobs": rows})
    record.add(submit + 9000, {"cycles": [[submit + 9000, 0, 0, 4, 0, 0.1]]})
    return folder


def test_settings_that_won_on_recorded_days(recorded_days):
    found = settings_advice(recorded_days, {"bf_interval": ["30"], "bf_max_job_test": ["400"]}, 3, 1)
    assert (found.tried, found.jobs) == (2, 60)
    assert [(one.key, one.value) for one in found.won] == [("bf_interval", "30")]
    assert found.won[0].lines.do[-2:] == [
        "-SchedulerParameters=bf_interval=1200",
        "+SchedulerParameters=bf_interval=30",
    ]
    said = "\n".join(text.settings_lines(found))
    assert re.search(r"mean wait: -\d+\.\d% \(95 %: -.* to -.*\), better", said)


def test_too_little_is_recorded(tmp_path):
    with pytest.raises(InputError, match="nothing is recorded there"):
        settings_advice(tmp_path, {}, 2, 1)
