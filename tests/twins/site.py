"""The slow twin of a site's limits: whoever is asked about is compared with all jobs of the run, every time anew.

A rule is a dict as a file has it, of numbers and of texts such as "node=4,ssd=10". Written from the specification.
"""

import math

COLUMNS = {"partition": "queue"}
WHO = ("user", "account", "qos", "partition", "group")
EACH = {"PerUser": "user", "PerAccount": "account"}


def amounts(text):
    """What a text limits, by name."""
    pairs = [item.split("=") for item in text.split(",")] if text else []
    return {{"node": "nodes"}.get(name, name): int(amount) for name, amount in pairs}


def waits(rule):
    return rule.get("over_submit") == "wait"


class Site:
    """Rules around a run."""

    def __init__(self, rules, resources):
        self.rules, self.resources = rules, resources

    def asks(self, job, name):
        return max(leg.demand[self.resources.index(name)] for leg in job.legs)

    def under(self, rule, job):
        return all(str(job.columns[COLUMNS.get(key, key)]) == str(rule[key]) for key in WHO if key in rule)

    def groups(self, run, rule, job):
        """For each way of counting: its suffix, and the other jobs that count together with this one."""
        if not self.under(rule, job):
            return
        others = [other for other in run.jobs if other is not job and self.under(rule, other)]
        yield "Grp", "", others
        for suffix, column in EACH.items():
            if job.columns[column] >= 0:
                yield "Max", suffix, [other for other in others if other.columns[column] == job.columns[column]]

    def turned_away(self, run, job):
        """Whether a job that is submitted is rejected."""
        for rule in self.rules:
            if not self.under(rule, job):
                continue
            if job.columns["walltime"] > rule.get("MaxWall", math.inf):
                return True
            if any(self.asks(job, name) > most for name, most in amounts(rule.get("MaxTRESPerJob", "")).items()):
                return True
            for prefix, suffix, others in self.groups(run, rule, job):
                if not waits(rule) and self.one_too_many(run, rule, prefix, suffix, others):
                    return True
                if self.exceeds(run, rule, prefix, suffix, job, []):
                    return True
        return False

    def one_too_many(self, run, rule, prefix, suffix, others):
        """Whether as many are submitted as may be."""
        open_now = sum(1 for other in others if other in run.queue or (other.begun and not other.state))
        return open_now + 1 > rule.get(f"{prefix}Submit{suffix}", math.inf)

    def stays_outside(self, run, job):
        """Whether a job that is submitted has to come again later."""
        return any(
            self.one_too_many(run, rule, prefix, suffix, others)
            for rule in self.rules
            if waits(rule)
            for prefix, suffix, others in self.groups(run, rule, job)
        )

    def over(self, run, job):
        """Whether a job has to wait for others under the same limit."""
        return any(
            self.exceeds(run, rule, prefix, suffix, job, [one for one in others if one.begun and not one.state])
            for rule in self.rules
            for prefix, suffix, others in self.groups(run, rule, job)
        )

    def exceeds(self, run, rule, prefix, suffix, job, begun):
        """Whether a job would be too much beside those that have begun."""
        if len(begun) + 1 > rule.get(f"{prefix}Jobs{suffix}", math.inf):
            return True
        for name, most in amounts(rule.get(f"{prefix}TRES{suffix}", "")).items():
            if sum(self.asks(one, name) for one in [*begun, job]) > most:
                return True
        now = run.now
        for name, most in amounts(rule.get("GrpTRESRunMins", "") if prefix == "Grp" else "").items():
            minutes = [(self.asks(one, name), self.left(run, one, now)) for one in begun]
            minutes.append((self.asks(job, name), job.columns["walltime"]))
            if sum(amount * seconds for amount, seconds in minutes if amount) > 60 * most:
                return True
        return False

    def left(self, run, job, now):
        """Seconds that a job which has begun has still to run of its leg, as far as walltimes tell."""
        return max(job.expected_end - now, 0.0) if job in run.running else job.walltime
