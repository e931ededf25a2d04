"""What `scontrol show job` prints, as a listing of sacct: a record a job, one line or several."""

import re
from dataclasses import replace

from forebay.workload._source import Source

_BEGIN = re.compile(rb"(?m)^JobId=")
_KEYS = {
    "JobID": "JobId",
    "User": "UserId",
    "Group": "GroupId",
    "Account": "Account",
    "Partition": "Partition",
    "QOS": "QOS",
    "Priority": "Priority",
    "Submit": "SubmitTime",
    "Eligible": "EligibleTime",
    "Start": "StartTime",
    "End": "EndTime",
    "Elapsed": "RunTime",
    "Timelimit": "TimeLimit",
    "NNodes": "NumNodes",
    "NCPUS": "NumCPUs",
    "ReqTRES": "ReqTRES",
    "AllocTRES": "AllocTRES",
    "Constraints": "Features",
    "Reason": "Reason",
    "State": "JobState",
}
_WANTED = re.compile(rf"(?<!\S)({'|'.join([*_KEYS.values(), 'TRES', 'ArrayJobId', 'ArrayTaskId'])})=(\S*)")
_WHO = re.compile(r"\sUserId=\S+\(\d+\) GroupId=")
_NAMES = ("User", "Group")  # written ann(1000)
_NOTHING = ("(null)", "N/A")


def looks_so(head: bytes) -> bool:
    """Whether a file that begins so is what `scontrol show job` prints."""
    return head.lstrip().startswith(b"JobId=")


def listing_of(source: Source) -> Source:
    """The same jobs with sacct's columns. What scontrol expects of jobs that have not ended is left out."""
    starts = [found.start() for found in _BEGIN.finditer(source.data)]
    ends = [*starts[1:], len(source.data)]
    rows = [_row(source.data[a:b].decode("utf-8", "replace")) for a, b in zip(starts, ends, strict=True)]
    text = "\n".join(["|".join(_KEYS), *("|".join(row) for row in rows)]) + "\n"
    return replace(source, data=text.encode())


def _row(record: str) -> list[str]:
    given: dict[str, str] = {}
    # A job's name may hold anything, also what looks like a key: what follows it begins with user and group.
    known, rest = (
        record.partition(" JobName=")[0],
        record[found.start() :] if (found := _WHO.search(record)) else record,
    )
    for key, value in _WANTED.findall(f"{known} {rest}"):
        given.setdefault(key, "" if value in _NOTHING else value)
    if "ArrayJobId" in given and given.get("ArrayTaskId", "").isdigit():
        given["JobId"] = f"{given['ArrayJobId']}_{given['ArrayTaskId']}"
    given.setdefault("ReqTRES", given.get("TRES", ""))
    given.setdefault("AllocTRES", given.get("TRES", ""))
    row = {column: given.get(key, "").replace("|", " ") for column, key in _KEYS.items()}
    row |= {column: row[column].partition("(")[0] for column in _NAMES}
    row["NNodes"] = row["NNodes"].partition("-")[0]  # a range while a job waits
    if row["State"] in ("PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING"):
        row["End"] = "Unknown"
        row["Start"] = "Unknown" if row["State"] == "PENDING" else row["Start"]
    return list(row.values())
