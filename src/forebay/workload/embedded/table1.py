"""Table 1 of Kopański & Rządca, "Plan-based Job Scheduling for Supercomputers with Shared Burst Buffers" (2021).

Eight jobs on 4 nodes and 10 TB of burst buffer. EASY backfilling that reserves nodes alone leaves most of them idle
from minute 4 to minute 10, behind a job that has its nodes and waits for burst buffer.
"""

import numpy as np

from forebay.workload.workload import Workload, job_table

DESCRIPTION = "8 jobs from Table 1 of Kopański & Rządca (2021): why burst buffers must be reserved"

_MINUTE = 60.0
_TB = 10**12


def make() -> Workload:
    """The table, in seconds and bytes; users know their run times."""
    run = _MINUTE * np.array([10, 4, 1, 3, 1, 1, 5, 3])
    jobs = job_table(
        {
            "id": np.arange(1, 9),
            "submit": _MINUTE * np.array([0, 0, 1, 2, 3, 3, 4, 4]),
            "walltime": run,
            "run_time": run,
            "nodes": np.array([1, 1, 3, 2, 3, 2, 1, 2]),
            "burst_buffer": _TB * np.array([4, 2, 8, 4, 4, 2, 2, 4], np.int64),
        }
    )
    source = "embedded workload table1 (Kopański & Rządca 2021, Table 1)"
    return Workload("table1", jobs, platform="table1", records=len(jobs), provenance=(source,))
