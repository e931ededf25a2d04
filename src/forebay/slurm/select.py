"""How Slurm gives out nodes: whole, or shared by cores, memory and GPUs."""

from dataclasses import dataclass

from forebay.errors import brief, listed
from forebay.slurm.site import Site

_SHARING = ("cons_tres", "cons_res")
_UNSET = (
    "SelectType is not set: taken as select/cons_tres, as newer releases do; older ones give out whole nodes "
    "(select/linear)"
)


@dataclass(frozen=True)
class Selection:
    """What of it a platform file can say."""

    sharing: bool
    placement: str  # best-fit or worst-fit
    memory: bool  # whether memory is given out
    notes: tuple[str, ...]


def selected(site: Site) -> Selection:
    """By SelectType, its parameters, and OverSubscribe of the partitions."""
    kind = site.setting("SelectType").lower().removeprefix("select/")
    parameters = {word.strip().upper() for word in site.setting("SelectTypeParameters").split(",") if word.strip()}
    notes: list[str] = []
    if not kind:
        notes.append(_UNSET)
        kind = "cons_tres"
    if kind == "cray_aries":
        kind = "cons_tres" if parameters & {"OTHER_CONS_TRES", "OTHER_CONS_RES"} else "linear"
    if kind not in (*_SHARING, "linear"):
        notes.append(f"SelectType={brief(kind)} is not known: taken as whole nodes")
    counted = [word for word in parameters if word.startswith("CR_") and word != "CR_LLN" and "NODES" not in word]
    # CR_Core_Memory where nothing is said.
    memory = any("MEMORY" in word for word in parameters) or (kind in _SHARING and not counted)
    partitions = site.partitions.values()
    least = "CR_LLN" in parameters or (bool(partitions) and all(one.least_loaded for one in partitions))
    exclusive = [one.name for one in partitions if one.exclusive]
    sharing = kind in _SHARING and len(exclusive) < max(1, len(partitions))
    if sharing and exclusive:
        notes.append(f"partitions whose jobs have nodes to themselves (OverSubscribe=EXCLUSIVE): {listed(exclusive)}")
    if sharing and all(node.cores == 1 for node in site.nodes.values()):
        sharing = False  # of a node with one core there is nothing to share
    if sharing and any(node.threads > 1 for node in site.nodes.values()):
        notes.append(
            "cores are Slurm's CPUs, which are threads where ThreadsPerCore is above 1; jobs count them so too"
        )
    if sharing and any(word.startswith("CR_SOCKET") for word in parameters):
        notes.append("CR_Socket gives out whole sockets: cores here")
    return Selection(sharing, "worst-fit" if least else "best-fit", memory, tuple(notes))
