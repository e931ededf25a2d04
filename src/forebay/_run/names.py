"""Names in a policy's parameters: of accounts, QOS and partitions, as the site and the workload have them."""

from typing import Any

from forebay import policies
from forebay._run.tres import by_resources
from forebay.errors import brief, listed, nearest
from forebay.platforms.accounts import PARENT, ROOT, Account
from forebay.platforms.platform import Platform
from forebay.policies._families import accounts
from forebay.policies._limited import apart
from forebay.workload import Workload

_WORDS = {"queue": "partition", "qos": "QOS"}


def on_site(scheduler: Any, workload: Workload, platform: Platform) -> tuple[Any, list[str]]:
    """A policy with the site's shares and the workload's numbers for names, and notes on names that no job has."""
    if hasattr(scheduler, "with_site_policy"):
        site = None if platform.policy is None else apart(policies.load(platform.policy))[0]
        scheduler = scheduler.with_site_policy(site, platform.name)
    if hasattr(scheduler, "with_accounts") and platform.accounts:
        scheduler = scheduler.with_accounts([one for account in platform.accounts for one in _members(account)])
    notes = _notes(scheduler.strangers(workload.names), workload, platform) if hasattr(scheduler, "strangers") else []
    if hasattr(scheduler, "with_names"):
        scheduler = scheduler.with_names(workload.names)
    if hasattr(scheduler, "with_resources") and (weights := scheduler.weights_of_resources()):
        added, more = by_resources(weights, workload, platform)
        scheduler, notes = scheduler.with_resources(added), notes + more
    return scheduler, notes


def _members(account: Account) -> list[accounts.Member]:
    shares = accounts.PARENT if account.shares == PARENT else float(account.shares)
    found = [] if account.name == ROOT else [accounts.Member(account.name, account.parent, shares)]
    for name, own in account.users.items():
        user, _, partition = name.partition(":")
        of_user = accounts.PARENT if own == PARENT else float(own)
        found.append(accounts.Member(user, account.name, of_user, True, partition))
    return found


def _notes(strangers: dict[str, list[str]], workload: Workload, platform: Platform) -> list[str]:
    """Most names that neither a job nor the site has are typos; names that only the site has are not."""
    notes = []
    for column, names in strangers.items():
        known = [name for rule in platform.limits if (name := rule.who.get(column))]
        known += [one.name for one in platform.partitions] if column == "queue" else []
        known += [one.name for one in platform.accounts] if column == "account" else []
        odd = [name for name in dict.fromkeys(names) if name not in known]
        known_names = [*workload.names.get(column, {}).values(), *known]
        if odd:
            word = _WORDS.get(column, column)
            hint = (
                nearest(odd[0], known_names) if known_names else f"{workload.name} does not give the {word} of any job"
            )
            what = f"the policy names {word} {listed(map(brief, odd))}"
            notes.append(f"{what}, which no job has: {hint}")
    return notes
