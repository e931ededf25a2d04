"""Rows of a listing with too many fields or too few, as Slurm quotes nothing: put together where only one way fits.

Most columns say what may stand in them: a number, a date, a name. Where the name of a job holds the delimiter or the
end of a line, these tell which fields belong together. A row that could be read in two ways is not read.
"""

import re
from collections.abc import Callable, Iterable

_MOST_EXTRA = 60  # fields beyond the header's

_JOB = r"\d+(_(\d+|\[[^\]]*\]))?(\+\d+)?(\.\w+)?"
_TIME = r"(\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d\S{0,12})?|\d+|Unknown|None|N/A)?"
_LENGTH = r"[\d:.-]*|UNLIMITED|Partition_Limit|INVALID|Unknown"
_COUNT = r"\d*[KMG]?"
_AMOUNT = r"[\d.]*[KMGTPE]?(i?B)?[nc]?"
_TRES = r"(\(null\)|[\w/:.+-]+=[\w.]+(,[\w/:.+-]+=[\w.]+)*)?"
_NODES = r"None assigned|\(null\)|([\w.-]+(\[[\d,-]+\][\w.-]*)*(,|$))*"
_STATE = r"[A-Za-z_]+\+?( by \d+)?"
_NAME = r"\S*"
_LINE = r"(([\w./-]*/)?(sbatch|srun|salloc|scrontab)\b.*)?"
_ANY = r".*"

_PATTERNS = {
    _JOB: "JobID JobIDRaw",
    _TIME: "Submit Eligible Start End",
    _LENGTH: "Elapsed ElapsedRaw Timelimit TimelimitRaw CPUTime CPUTimeRAW TotalCPU UserCPU SystemCPU Suspended "
    "Planned PlannedCPU PlannedCPURAW Reserved ResvCPU ResvCPURAW",
    _COUNT: "NNodes AllocNodes ReqNodes NCPUS AllocCPUS ReqCPUS NTasks UID GID AssocID QOSRAW DBIndex Restarts",
    r"[\d.]*": "Priority",
    r"\d+:\d+": "ExitCode DerivedExitCode",
    _AMOUNT: "ReqMem",
    _TRES: "ReqTRES AllocTRES",
    _NODES: "NodeList",
    _STATE: "State",
    _NAME: "User Group Account QOS Cluster Partition Constraints Flags OverSubscribe Dependency",
    _LINE: "SubmitLine",
    "": "",  # behind the delimiter at the end of a line
}
_OF = {name.lower(): pattern for pattern, names in _PATTERNS.items() for name in names.split(" ")}
_LISTS = frozenset({"jobid", "reqtres", "alloctres", "nodelist", "partition", "constraints", "dependency"})
"""Columns of which a value may hold commas by its nature; other names hold no delimiter."""


def is_number(column: str) -> bool:
    """Whether each row begins with the number of a job, if it is the first column."""
    return _OF.get(column.strip().lower()) == _JOB


def is_free(column: str) -> bool:
    """Whether anything may stand in that column."""
    return _OF.get(column.strip().lower(), _ANY) in (_ANY, _LINE)


class Mender:
    """For one file: its delimiter, its columns, and which of them are read."""

    def __init__(self, delimiter: str, names: list[str], read: Iterable[int]) -> None:
        self.delimiter, self._names = delimiter, names
        self.header = delimiter.join(names)
        self._read = frozenset(read)
        self._patterns = [self._pattern(name.strip().lower()) for name in names]
        self.begin = rf"^\s*({_JOB}){re.escape(delimiter)}" if is_number(names[0]) else ""

    def _pattern(self, name: str) -> re.Pattern[str]:
        pattern = _OF.get(name, _ANY)
        if pattern == _NAME and not (name in _LISTS and self.delimiter == ","):
            pattern = rf"[^\s{re.escape(self.delimiter)}]*"
        return re.compile(pattern, re.DOTALL if pattern in (_ANY, _LINE) else 0)

    @property
    def free(self) -> list[str]:
        """Names of the columns in which anything may stand."""
        return [name for name in self._names if is_free(name)]

    def mend(self, text: str) -> list[str] | None:
        """The words of a row by column; None if there is no way to read it, or more than one."""
        fields = text.split(self.delimiter)
        if not len(self._names) <= len(fields) <= len(self._names) + _MOST_EXTRA:
            return None
        known: dict[tuple[int, int], list[list[str]]] = {}

        def ways(column: int, begin: int) -> list[list[str]]:
            """Up to two ways to read the fields from `begin` on as the columns from `column` on."""
            if column == len(self._names):
                return [[]] if begin == len(fields) else []
            found = known.get((column, begin))
            if found is None:
                found = known[column, begin] = self._extended(column, begin, fields, ways)
            return found

        found = ways(0, 0)
        return found[0] if len(found) == 1 else None

    def _extended(
        self, column: int, begin: int, fields: list[str], ways: Callable[[int, int], list[list[str]]]
    ) -> list[list[str]]:
        found: list[list[str]] = []
        seen: list[list[str]] = []  # the words that are read
        left = len(self._names) - column - 1  # columns behind this one, a field each at least
        for end in range(begin + 1, len(fields) - left + 1):
            word = self.delimiter.join(fields[begin:end]).strip()
            if not self._patterns[column].fullmatch(word):
                continue
            for rest in ways(column + 1, end):
                words = [word, *rest]
                read = [one for k, one in enumerate(words, column) if k in self._read]
                if read not in seen:
                    seen.append(read)
                    found.append(words)
                if len(found) == 2:
                    return found
        return found
