"""What of a job's work is safe, in a run in which jobs write checkpoints."""

import numpy as np

SAFE = np.dtype(
    [
        ("period", "f8"),  # work between two checkpoints at its present size
        ("since", "f8"),  # work since its last safe point, without the slice under way
        ("part", "f8"),  # seconds of its phase that were done before the slice under way
        ("whole", "f8"),  # of so many
        ("upto", "f8"),  # those that will be done after it; -1 = all
        ("began", "f8"),  # when its slice, checkpoint or recovery did
        ("overhead", "f8"),  # seconds of checkpoints and recovery in this attempt
        ("used", "f8"),  # seconds of the walltime that earlier attempts have used for good
        ("asked", "f8"),  # of so many
        ("saved_used", "f8"),
        ("saved_asked", "f8"),
        ("saved_part", "f8"),
        ("saved_whole", "f8"),
        ("saved_phase", "i8"),  # where it goes on; -1 = from the beginning
        ("saved_left", "i8"),  # rounds of the loop under way there
        ("saved_done", "i8"),  # rounds that were over
        ("saved_begun", "i8"),  # whether any had begun
        ("attempts", "i8"),  # that have failed since its last new checkpoint
        ("doing", "i1"),  # SAVING, RECOVERING or WORKING
        ("leaves", "i1"),  # whether it stops after its next checkpoint: GOES_ON, or a Resume
    ],
    align=True,
)
"""How safe a job is: what it would not have to do again. The columns `saved_` are its last checkpoint."""
WORKING, SAVING, RECOVERING = range(3)
GOES_ON = 0  # in `leaves`, beside Resume.NOW and Resume.NEXT
NO_INTERLUDE, WORKS_ON, LEAVES = range(3)
"""What follows what is done between phases: nothing, as nothing was; the next phase; or the job leaves."""
