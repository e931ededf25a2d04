"""Classes of nodes: what one node has, of so many that are alike. Their ids follow one another as classes are declared.

Local storage is a tier's matter (node_local); a class tells what is inside a node besides: cores, memory, GPUs.
"""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from forebay._support.text import counted
from forebay.core.units import format_bytes
from forebay.platforms._declared.power import WattsOrNone
from forebay.platforms._fields import Count, CountOrZero, Memory, Model, Name, NameOrNone, Words
from forebay.platforms.names import check_count

MAX_CORES = 1_000_000
"""Of a node, and of its GPUs: a larger number is a slip, and sums over all nodes stay far within 64 bits."""


def _of_a_node(number: int) -> int:
    if number > MAX_CORES:
        raise ValueError(f"{number:,} is more than the {MAX_CORES:,} that a node may have; write fewer")
    return number


Cores = Annotated[Count, AfterValidator(_of_a_node), Field(examples=[36])]
Gpus = Annotated[CountOrZero, AfterValidator(_of_a_node), Field(examples=[4])]


class NodeClass(Model):
    """Nodes that are alike.

    Parameters
    ----------
    name
        What it is called; jobs and partitions may name it.
    nodes
        How many there are.
    cores
        Of a node.
    memory
        Of a node, in bytes, or as text: "256 GB". Without it, memory is not counted there.
    gpus
        Of a node.
    gpu
        Their type, such as "v100".
    features
        What else jobs may ask of a node by name, such as "cascadelake".
    weight
        As in slurm.conf: the policy `slurm` takes nodes of less weight first. Other policies use the order of classes.
    names
        What its nodes are called, in the order of their ids, as Slurm writes lists: "n[001-280]". Partitions and
        reservations may name them so.
    idle
        What an idle node draws, where not as `Platform.power` says of all.
    busy
        What a busy node draws.

    Examples
    --------
    >>> print(fb.platforms.NodeClass(name="gpu", nodes=10, cores=40, memory="384 GB", gpus=4, gpu="v100"))
    gpu: 10 nodes of 40 cores, 384 GB, 4 GPUs (v100)
    """

    name: Name
    nodes: Count
    cores: Cores = 1
    memory: Memory = None
    gpus: Gpus = 0
    gpu: NameOrNone = ""
    features: Words = ()
    weight: CountOrZero = 1
    names: Annotated[str, Field(examples=["n[001-280]"])] = ""
    idle: WattsOrNone = None
    busy: WattsOrNone = None

    told_if_set: ClassVar[tuple[str, ...]] = ("memory", "idle", "busy")

    @field_validator("gpu")
    @classmethod
    def _of_some(cls, gpu: str, info: ValidationInfo) -> str:
        if gpu and info.data.get("gpus") == 0:
            raise ValueError(f"{gpu!r} is the type of no GPU: write how many a node has, such as gpus = 4, or no gpu")
        return gpu

    @field_validator("names")
    @classmethod
    def _one_each(cls, names: str, info: ValidationInfo) -> str:
        if names and "nodes" in info.data:
            check_count(names, info.data["nodes"])
        return names

    def described(self) -> dict[str, Any]:
        """Its values, for descriptions."""
        usual = {"names": "", "weight": 1}
        return {name: value for name, value in super().described().items() if usual.get(name) != value}

    @property
    def text(self) -> str:
        """What is inside a node, in a few words."""
        parts = [counted(self.cores, "core")]
        parts += [] if self.memory is None else [format_bytes(self.memory)]
        parts += [counted(self.gpus, "GPU") + (f" ({self.gpu})" if self.gpu else "")] if self.gpus else []
        parts += [f"features {' '.join(self.features)}"] if self.features else []
        return ", ".join(parts)

    def __str__(self) -> str:
        return f"{self.name}: {counted(self.nodes, 'node')} of {self.text}"
