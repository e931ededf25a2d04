"""Waits and holds as the log tells them: what explanations of waits are compared with."""

from collections import defaultdict

TAKES, GIVES = ("start", "acquire"), ("release", "end")


class Tape:
    """The log, row by row: who waited when and for what, and who held what when. As slow and plain as can be."""

    def __init__(self, result):
        self.capacity = dict(result.resources)
        self.waits, self.held, self.changes, self.needs = defaultdict(list), defaultdict(list), [], {}
        since, holding, last_start = {}, defaultdict(int), None
        for row in result.log.rows(named=True):
            time, job, kind = row["time"], row["job"], row["kind"]
            if kind in ("submit", "queue"):
                since[job] = time
            elif kind in ("start", "cancel", "reject") and job in since:
                begun = since.pop(job)
                last_start = (job, time if time > begun else None)  # a leg may begin as the one before ends
                self.needs[last_start] = {}
                if time > begun:
                    self.waits[job].append((begun, time))
            if kind in TAKES + GIVES and row["amount"]:
                sign, key = (1 if kind in TAKES else -1), (job, row["resource"])
                if kind in TAKES and row["reason"] != "resized":
                    self.needs[last_start][row["resource"]] = row["amount"]
                if not holding[key]:
                    self.held[key].append([time, float("inf")])
                holding[key] += sign * row["amount"]
                if not holding[key]:
                    self.held[key][-1][1] = time
                self.changes.append((time, row["resource"], sign * row["amount"]))
            elif kind in ("node_down", "node_up"):
                self.changes.append((time, "nodes", 1 if kind == "node_down" else -1))

    def free(self, now, resource):
        """After all that happened in the instant."""
        used = sum(amount for time, name, amount in self.changes if name == resource and time <= now + 2e-6)
        return self.capacity[resource] - used

    def holds(self, job, start, end):
        """Whether the job held anything at some time in between."""
        spans = [span for (who, _), spans in self.held.items() if who == job for span in spans]
        return any(a < end and b > start for a, b in spans)

    def waited(self, job, start, end):
        return any(a < end and b > start for a, b in self.waits[job])
