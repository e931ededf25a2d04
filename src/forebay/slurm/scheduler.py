"""What of slurm.conf says how jobs are put in order and started: SchedulerParameters, and all of Priority*."""

import math

from forebay.errors import brief, nearest
from forebay.slurm import keys, values
from forebay.slurm.site import Site

TIMES = ("PriorityMaxAge", "PriorityDecayHalfLife", "PriorityCalcPeriod")
FLAGS = ("PriorityFavorSmall",)
WEIGHTS = (
    *("PriorityWeightAge", "PriorityWeightAssoc", "PriorityWeightFairshare", "PriorityWeightJobSize"),
    *("PriorityWeightPartition", "PriorityWeightQOS"),
)
WORDS = ("PriorityFlags", "PriorityType", "PriorityUsageResetPeriod", "PriorityWeightTRES", "SchedulerType")

Parameters = dict[str, str]
"""Values by name, as slurm.conf spells them: whole numbers, seconds, true and false, words."""

_UNHEARD = {
    "PreemptType": ("preempt/none", "preemption"),
    "TopologyPlugin": ("topology/none", "the network's shape in the choice of nodes"),
    "NodeFeaturesPlugins": ("", "features that change at boot"),
    "SuspendProgram": ("", "nodes that are switched off while idle"),
    "PrioritySiteFactorPlugin": ("", "a factor of the site's own"),
    "JobSubmitPlugins": ("", "what a plug-in changes of jobs at submission: in the trace already"),
}
"""Settings that change schedules and are not modelled: what they are where they are not, and what it is about."""


def parameters_of(site: Site) -> tuple[Parameters, list[str]]:
    """Parameters that are set, and remarks on names that no release has and on settings without a model."""
    found, notes = _scheduling(site.setting("SchedulerParameters"))
    multifactor = site.setting("PriorityType").lower() != "priority/basic"
    for key in TIMES if multifactor else ():
        if text := site.setting(key):
            seconds = values.seconds(text, site.place(key), key)
            found[key] = "0" if math.isinf(seconds) else f"{seconds:.0f}"
    for key in FLAGS if multifactor else ():
        if text := site.setting(key):
            found[key] = str(values.flag(text, site.place(key), key)).lower()
    for key in WEIGHTS if multifactor else ():
        if text := site.setting(key):
            found[key] = str(values.count(text, site.place(key), key))
    for key in WORDS:
        if text := site.setting(key):
            found[key] = text
    for key, (usual, what) in _UNHEARD.items():
        text = site.setting(key)
        if text and text.lower() not in {usual, "none"}:
            notes.append(f"{key}={text} is not modelled ({what})")
    return found, notes


def _scheduling(text: str) -> tuple[Parameters, list[str]]:
    """`bf_interval=30,bf_continue` by name; what stands alone is true."""
    found: Parameters = {}
    notes = []
    for item in values.words(text):
        name, equals, value = item.partition("=")
        name = name.strip()
        if name.lower() not in keys.SCHEDULER:
            close = nearest(name.lower(), keys.SCHEDULER.values())
            hint = close if close.startswith("did you mean") else "passed over"
            notes.append(f"SchedulerParameters has {brief(name)}, which Slurm does not: {hint}")
        else:
            found[keys.SCHEDULER[name.lower()]] = value.strip() if equals and value.strip() else "true"
    return found, notes
