"""Who waits for whom, as far as a policy in plain Python sees it."""

from typing import Protocol

from forebay.core.views.naming import Naming
from forebay.errors import BadActionError


class Family(Protocol):
    """Jobs that wait for others, by their rows; the run hands it in. Jobs to come are not in it."""

    def is_known(self, job: int) -> bool: ...
    def children(self, job: int) -> list[int]: ...
    def parents(self, job: int) -> list[int]: ...
    def critical_path(self, job: int) -> float: ...


class Relatives(Naming):
    """The part of a View that knows who waits for whom: what users have said of jobs that are submitted."""

    _family: Family | None

    def children(self, job: int) -> list[int]:
        """The jobs that wait for this one, or did, ascending: those that are submitted.

        One that still waits for others is in no queue, and its row in `jobs` is blank: `critical_path` and these two
        tell of it.

        Parameters
        ----------
        job
            Its row.
        """
        family, row = self._related(job)
        return family.children(row) if family else []

    def parents(self, job: int) -> list[int]:
        """The jobs that this one waits for, or did, ascending: those that are submitted.

        Parameters
        ----------
        job
            Its row.
        """
        family, row = self._related(job)
        return family.parents(row) if family else []

    def critical_path(self, job: int) -> float:
        """Seconds from its start until the last job behind it could end, by walltimes, if none waited for room.

        Its walltime and the longest chain of children's, with their delays: the upward rank of HEFT on nodes that are
        alike. Kind `after` counts from its start.

        Parameters
        ----------
        job
            Its row.

        Examples
        --------
        >>> table = {"id": [1, 2, 3], "submit": [0] * 3, "nodes": [1] * 3}
        >>> table |= {"walltime": [60, 30, 20], "run_time": [9] * 3}
        >>> after = fb.workload.dependency_table({"job": [2, 3], "parent": [1, 2]})
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         if view.now == 0:
        ...             print(view.children(0), view.parents(2), view.critical_path(0))
        ...         act.backfill()
        >>> chain = fb.Workload("chain", fb.workload.job_table(table), dependencies=after)
        >>> result = fb.simulate(chain, "flat:nodes=2", Tells())
        [1] [1] 110.0
        """
        family, row = self._related(job)
        return family.critical_path(row) if family else float(self.jobs["walltime"][row])

    def _related(self, job: int) -> tuple[Family | None, int]:
        """The family, and the row of a job that is submitted."""
        row = self._row(job)
        known = self._family.is_known(row) if self._family else self.jobs["state"][row] != 0
        if not known:
            raise BadActionError(f"{self._when} asked about the relatives of {self._not_waiting(row)}")
        return self._family, row
