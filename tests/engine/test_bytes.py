"""What crosses the links is what the phases moved: told twice, by the network and by the log."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases import transfers
from cases.chunks import chunks, uncompiled
from forebay.errors import StalledError
from forebay.platforms.storage import files_of

TO_AND_FROM_FILES = ("stage_in", "stage_out", "drain", "read", "write")


def moved(result, kinds):
    """Bytes that phases of these kinds moved, by the log, and how many rows say so."""
    rows = result.log.filter((pl.col("kind") == "end_phase") & pl.col("reason").is_in(kinds))
    return rows["amount"].sum(), len(rows)


def check_bytes(seed):
    """The log has whole bytes, so a row may be short by one."""
    workload, platform = transfers.make(seed)
    preset, params, _ = transfers.policy(seed)
    try:
        result = fb.simulate(workload, platform, transfers.spec(preset, params), job_model="io-aware")
    except StalledError:
        return  # legs that lock each other out
    files = result.links.filter(pl.col("link").str.starts_with("pfs"))
    if len(files):  # else every job has a lane of its own
        amount, n = moved(result, TO_AND_FROM_FILES)
        assert files["bytes"].sum() == pytest.approx(amount, abs=n + 1e-9 * amount), seed
    fabric = platform.fabric()
    through = not files_of(platform.tiers) or files_of(platform.tiers).door().through_ports
    for way, inside, staging in (("in", "checkpoint", ["stage_in"]), ("out", "fetch", ["stage_out", "drain"])):
        servers = result.links.filter(pl.col("link").str.contains(f"server.* {way}"))
        if len(servers) and fabric.buffer:
            amount, n = moved(result, [inside, *(staging if through else [])])
            assert servers["bytes"].sum() == pytest.approx(amount, abs=n + 1e-9 * amount), seed
    check_finished(workload, platform, result)


def check_finished(workload, platform, result):
    """A job without phases of its own that completes has moved D in, D out, and D / 2 each way between phases."""
    fabric = platform.fabric()
    own = set() if workload.phases is None else set(workload.phases["job"])
    legs = set() if workload.legs is None else set(workload.legs["job"])
    ends = result.log.filter(pl.col("kind") == "end_phase").group_by("job", "reason").agg(pl.col("amount").sum())
    told = {(job, reason): amount for job, reason, amount in ends.rows()}
    rows = workload.jobs.join(result.jobs, left_on="id", right_on="job_id", suffix="_of_result")
    for row in rows.iter_rows(named=True):
        request = row.get(fabric.buffer) or 0
        if row["final_state"] != "COMPLETED_SUCCESSFULLY" or row["id"] in own | legs or not request:
            continue
        hours = (row["run_time"] + row["flop"] / platform.speed) / 3600
        between = int(np.clip(np.rint(hours), 1, 10)) - 1
        assert told[row["id"], "stage_in"] == told[row["id"], "stage_out"] == request
        for kind in ("checkpoint", "drain"):
            # halves of odd requests lose half a byte a row
            assert told.get((row["id"], kind), 0) == pytest.approx(between * request / 2, abs=60)


@uncompiled
@pytest.mark.parametrize("seed", range(3))
def test_bytes_by_link_are_the_phases_bytes_small(seed):
    check_bytes(seed)


@pytest.mark.parametrize("seed", chunks(15, 60)[3:])
def test_bytes_by_link_are_the_phases_bytes(seed):
    check_bytes(seed)
