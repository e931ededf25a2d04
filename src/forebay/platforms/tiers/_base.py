"""What every kind of tier has: a name, a kind, perhaps a finite size, and a line for people."""

from typing import Annotated

from pydantic import Field, field_validator

from forebay.core.result import JOBS_CSV
from forebay.platforms._fields import Model

# A finite tier becomes a column of demand in job tables, where these have another meaning.
TAKEN = frozenset(
    {"nodes", "user", "group", "queue", "priority"}
    | {"id", "submit", "walltime", "run_time", "flop", "communication"}  # of a workload
    | {"job", "leg", "carry", "n_legs", "total_wait", *JOBS_CSV}  # of legs and results
)


class BaseTier(Model):
    """A named store or pool beside the nodes; the kinds add what can be said of them."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    kind: str

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in TAKEN:
            raise ValueError(f"{name!r} is a column of every job table; give the tier another name")
        return name

    @property
    def size(self) -> int | None:
        """How much jobs may hold of it together, in bytes or units; None where there is no limit."""
        return None

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return self.kind
