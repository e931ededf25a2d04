"""The watch, beside a Slurm that is two executables: what it keeps, scores and shows, and how little it asks."""

import json
import os
import shutil
from collections import Counter

import numpy as np
import polars as pl
import pytest

from _live.acted import START, Acted, Queue
from forebay._live.commands import SlurmError
from forebay._live.watch.running import Watch
from forebay.errors import InputError


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """An hour and a half of a small machine."""
    folder = tmp_path_factory.mktemp("watched")
    slurm, queue = Acted(folder / "slurm"), Queue()
    watch = Watch(folder / "kept", slurm, futures=3, textfile=folder / "forebay.prom")
    seen = []
    for _ in range(90):
        slurm.show(queue.at(slurm.now()))
        begun = slurm.now()
        seen.append(watch.cycle())
        slurm.sleep(begun + 60 - slurm.now())
    watch.show()
    return watch, slurm, queue, seen, folder


def test_at_most_four_calls_in_any_minute(watched):
    watch, slurm, *_ = watched
    calls = slurm.calls()
    assert len(calls) + sum(call.endswith((" node", " config")) for call in calls) == watch._reader.total
    what = Counter(call.rpartition(" ")[2] for call in calls)
    assert what["all"] == 90  # squeue, once a cycle
    assert min(what[part] for part in ("config", "node", "partition", "reservation")) > 3  # and all of the machine
    assert max(watch._reader._calls) - min(watch._reader._calls) < 60
    assert len(watch._reader._calls) <= 4


def test_calls_wait_for_their_minute(tmp_path):
    """Whatever is asked for, no minute has a fifth call."""
    from forebay._live.watch.reading import Reader

    slurm = Acted(tmp_path / "slurm")
    times = []
    ask = slurm.ask

    def counted(*words):
        times.extend([slurm.now()] * (2 if words[-1] in ("node", "config") else 1))  # as sdiag of a real one counts
        return ask(*words)

    object.__setattr__(slurm, "ask", counted)
    reader = Reader(slurm, 30)
    for _ in range(40):
        reader.moment()
        slurm.sleep(1)
    times = np.array(times)
    assert max(int(((times >= t) & (times < t + 60)).sum()) for t in times) == 4


def test_all_is_kept_and_scored(watched):
    watch, _, _, seen, _ = watched
    jobs = watch.record.read("jobs")
    assert set(jobs["state"]) == {"PENDING", "RUNNING", "COMPLETED"}
    last = jobs.unique("id", keep="last")
    assert last.filter(pl.col("state") == "COMPLETED").height > 5
    assert watch.record.read("cycles").height == 90
    predictions = watch.record.read("predictions")
    assert predictions.height == sum(len(one.ahead.names) for one in seen)
    scores = watch.record.read("scores")
    truth = {json.loads(row)["id"]: json.loads(row).get("start") for row in last["row"]}
    assert scores.height > 4
    for name, start, made in scores.select("name", "start", "made").iter_rows():
        assert start == truth[int(name)]
        assert made <= start + 1
    hours = sorted(path.name for path in (watch.folder / "jobs").iterdir())
    assert hours == ["20270115T08.parquet"]
    assert [path.name for path in watch.folder.glob("*.jsonl")] == ["20270115T09.jsonl"]


def test_a_restart_goes_on_where_it_stopped(watched, tmp_path):
    watch, slurm, *_ = watched
    shutil.copytree(watch.folder, tmp_path / "kept")
    with (tmp_path / "kept" / "20270115T09.jsonl").open("ab") as file:
        file.write(b'{"jobs": [[1, "half a li')  # of a process that was killed
    again = Watch(tmp_path / "kept", slurm, futures=3)
    assert [one.row for one in again._scores.done] == [pytest.approx(one.row) for one in watch._scores.done]
    assert set(again._scores.open) == set(watch._scores.open)
    assert again._known.past == watch._known.past
    again.cycle()
    cycles = again.record.read("cycles")
    assert cycles.height == 91
    with pytest.raises(InputError, match="another watch runs"):
        Watch(tmp_path / "kept", slurm)


def test_hours_become_tables_once(watched, tmp_path):
    """Killed after the tables were written and before the lines went, it finds both, and keeps one."""
    from forebay._live.watch.record import Record

    record = Record(tmp_path)
    record.add(START, {"cycles": [[START, 1, 2, 4, 3, 0.1]]})
    lines = (tmp_path / "20270115T08.jsonl").read_bytes()
    record.close()
    (tmp_path / "20270115T08.jsonl").write_bytes(lines)
    assert record.read("cycles").height == 1
    record.close()
    assert record.read("cycles").height == 1
    record.add(START + 5, {"cycles": [[START + 5, 1, 2, 4, 3, 0.1]]})  # the hour is closed: the clock was put back
    record.close()
    assert record.read("cycles")["now"].to_list() == [START, START + 5]
    record.add(START + 40 * 86400, {})
    record.close()
    assert record.read("cycles").height == 0  # after 30 days


def test_a_full_disk_costs_a_line_and_no_more(tmp_path, monkeypatch):
    from forebay._live.watch.record import Record

    record = Record(tmp_path)
    record.add(START, {"cycles": [[START, 1, 2, 4, 3, 0.1]]})
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:10]))  # the disk had ten bytes left
    with pytest.raises(OSError, match="No space left"):
        record.add(START + 60, {"cycles": [[START + 60, 1, 2, 4, 3, 0.1]]})
    monkeypatch.undo()
    record.add(START + 120, {"cycles": [[START + 120, 1, 2, 4, 3, 0.1]]})
    assert record.read("cycles")["now"].to_list() == [START, START + 120]


def test_what_fails_is_on_the_page_and_tried_again(tmp_path):
    slurm = Acted(tmp_path / "slurm")
    watch = Watch(tmp_path / "kept", slurm, futures=4)
    slurm.show(Queue().at(START))
    said = []
    watch.run(1, said.append)
    (tmp_path / "slurm" / "queue").write_text('{"jobs": [{"job_id"')  # broken off, and no text either
    watch.run(1, said.append)
    page = (tmp_path / "kept" / "status.html").read_text()
    assert 'class="alarm"' in page
    object.__setattr__(slurm, "clock", [START + 3600])
    watch.show()
    assert "nothing newer could be read" in (tmp_path / "kept" / "status.html").read_text()
    assert "run" in said[0]
    assert "scontrol" in said[1]
    with pytest.raises(SlurmError):
        watch.cycle()
