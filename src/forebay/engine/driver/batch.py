"""A run from its beginning to its end by one call."""

from collections.abc import Callable
from typing import Any

import numpy as np

from forebay.core.tables import State
from forebay.engine.driver.history import Record
from forebay.engine.driver.stepper import Progress, Stepper
from forebay.engine.policy_io.view_inputs import NOTHING_HANDED, Handed
from forebay.engine.truth import Truth


def run(
    state: State,
    truth: Truth,
    policy: Any,
    resources: tuple[str, ...],
    rng: np.random.Generator,
    progress: Progress | None = None,
    remarks: list[str] | None = None,
    draw: Callable[[], None] | None = None,
    handed: Handed = NOTHING_HANDED,
) -> Record:
    """Run until every job has ended; returns what was recorded. `progress(ended, jobs)` is called at times.

    What a compiled policy has to say of the run is added to `remarks`. `draw` fills the table of failures again.
    `handed` is what a policy in plain Python builds on.
    """
    stepper = Stepper(state, truth, resources, rng, draw, handed=handed)
    stepper.take(policy)
    stepper.finish(progress)
    if remarks is not None:
        remarks += stepper.remarks()
    return stepper.record()
