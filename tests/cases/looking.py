"""A policy that keeps all that it could see, found by reflection: whatever is added to a view is looked at, too."""

import inspect
import itertools

import numpy as np

import forebay as fb
from forebay.core.views.profile import Profile

ARGUMENTS = {
    "job": lambda view: range(len(view.jobs)),
    "way": lambda view: (0, 1),
    "trigger": lambda view: fb.Trigger,
    "time": lambda view: (view.now, view.now + 60.0),
    "link": lambda view: ("pfs read", "pfs write"),
    "tier": lambda view: ("pfs", "burst_buffer"),
    "column": lambda view: ("deadline",),
    "codes": lambda view: ("application",),
    "words": lambda view: ("application",),
}
"""What to call a method of the view with: by the name of its parameter or, where that is `name`, by its own."""


EVERY = 7.0
"""Seconds after which a spy looks again, if nothing happens."""


class Spy(fb.Policy):
    """Starts whatever fits, and keeps all that it could see at each decision up to a moment."""

    needs = ("io",)

    def __init__(self, until):
        self.until, self.seen = until, []
        self.shown = frozenset()  # jobs that it had seen by then

    def decide(self, view, act):
        if view.now < self.until:
            self.seen.append((view.now, everything(view)))
            self.shown = frozenset(np.flatnonzero(view.jobs["state"] != fb.JobState.UNSUBMITTED).tolist())
            act.wake(min((view.now // EVERY + 1.0) * EVERY, self.until))
        self.act_on(view, act)

    def act_on(self, view, act):
        """What it does, by what it sees alone."""
        for job in view.queue:
            if act.fits(job):
                act.start(job)


def moment_in(result, percent):
    """A whole second within a run, so many per cent of the way to its end."""
    ends = result.jobs["finish_time"].drop_nulls()
    return max(float(int((ends.max() if len(ends) else 0.0) * percent / 100)), 1.0)


def everything(view):
    """All that a view offers, and all that a kernel reads, as what can be compared."""
    found = {}
    for name in dir(type(view)) + list(vars(view)):
        if name.startswith("_"):
            continue
        thing = getattr(view, name)
        if not callable(thing):
            found[name] = frozen(thing)
            continue
        wanted = [p for p in inspect.signature(thing).parameters.values() if p.default is inspect.Parameter.empty]
        choices = [ARGUMENTS[name if p.name == "name" else p.name](view) for p in wanted]
        for arguments in itertools.product(*choices):
            found[f"{name}{arguments}"] = answer(thing, arguments)
    return found | of_state(view._state)


def answer(method, arguments):
    """What a method says, or why it does not."""
    try:
        return frozen(method(*arguments))
    except fb.ForebayError as error:
        return str(error)


def frozen(thing):
    """A thing as text."""
    if isinstance(thing, np.random.Generator):
        return str(thing.bit_generator.state)
    if isinstance(thing, np.ndarray):
        return repr(thing.tolist())
    if isinstance(thing, dict):
        return repr({key: frozen(value) for key, value in thing.items()})
    if isinstance(thing, Profile):
        return frozen((thing.times, thing.free, thing.room))
    return repr(tuple(map(frozen, thing)) if isinstance(thing, tuple) else thing)


def of_state(tables, before="state"):
    """The tables of a kernel, column by column; addresses of functions differ from run to run."""
    found = {}
    for name, table in zip(tables._fields, tables, strict=True):
        if isinstance(table, tuple):
            found |= of_state(table, f"{before}.{name}")
        elif table.dtype.names is None:
            found[f"{before}.{name}"] = table.shape, table.tobytes()
        else:
            names = [field for field in table.dtype.names if field not in ("look_up", "signals")]
            found |= {f"{before}.{name}.{field}": (table.shape, table[field].tobytes()) for field in names}
    return found


def hold_the_same(first, second):
    """Two spies have seen the same, up to their moment."""
    assert [now for now, _ in first.seen] == [now for now, _ in second.seen]
    for (now, before), (_, after) in zip(first.seen, second.seen, strict=True):
        told = [name for name, value in before.items() if after[name] != value]
        assert not told, f"at {now} s the view tells what is still to come: {told}"
