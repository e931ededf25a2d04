"""The policy that is nearest to a site's scheduler."""

from forebay import policies
from forebay.errors import InputError, listed

POLICIES = ("slurm", "multifactor", "fcfs-easy")
"""What is nearest to Slurm, the best first."""


def nearest_policy(parameters: dict[str, str]) -> tuple[str, list[str]]:
    """Its spec, by what slurm.conf says, and remarks on what it leaves out."""
    name = next(one for one in POLICIES if one in policies.names())
    known = policies.describe(name)["parameters"]
    kept: list[str] = []
    left: list[str] = []
    notes: list[str] = []
    for key, value in parameters.items():
        if key not in known:
            left.append(key)
            continue
        try:
            policies.load(f"{name}:{','.join([*kept, f'{key}={value}'])}")
        except InputError as error:  # values that switch something off, such as sched_interval=-1
            notes.append(f"{key} is left out: {error}")
        else:
            kept.append(f"{key}={value}")
    if left:
        notes.append(f"settings that the policy {name} does not have: {listed(left)}")
    return ":".join([name, ",".join(kept)] if kept else [name]), notes
