"""The numbers behind the words: states, phases, verbs, reasons. Kernels and Python use the same names.

Values are stored in result files, so they never change; gaps leave room for codes of capabilities to come.
"""

from enum import IntEnum


class JobState(IntEnum):
    """Where a job is in its life. Everything from COMPLETED on is final."""

    UNSUBMITTED = 0
    QUEUED = 1
    RUNNING = 2
    COMPLETED = 10
    FAILED = 11
    WALLTIME_REACHED = 12
    KILLED = 13
    REJECTED = 14
    CANCELLED = 15  # withdrawn before it began


FINAL_STATE = {
    JobState.COMPLETED: "COMPLETED_SUCCESSFULLY",
    JobState.FAILED: "COMPLETED_FAILED",
    JobState.WALLTIME_REACHED: "COMPLETED_WALLTIME_REACHED",
    JobState.KILLED: "COMPLETED_KILLED",
    JobState.REJECTED: "REJECTED",
    JobState.CANCELLED: "CANCELLED",
}
"""Batsim's words for the final states, and one of ours: Batsim knows no job that leaves the queue by itself."""


NEVER_BEGUN = (JobState.REJECTED, JobState.CANCELLED)
"""Final states of jobs that enter no mean."""


class PhaseKind(IntEnum):
    """What a leg is doing."""

    STAGE_IN = 0
    COMPUTE = 1
    CHECKPOINT = 2
    DRAIN = 3
    READ = 4
    WRITE = 5
    STAGE_OUT = 6
    RECONFIGURE = 7
    FETCH = 8
    SAVE = 9  # a checkpoint of the running job, to restart from
    RECOVER = 10  # the last of them is read back


class Trigger(IntEnum):
    """What calls a policy: bits, since several things can happen in one instant."""

    SUBMIT = 1
    LEG_ENDED = 2
    JOB_ENDED = 4
    SCHEDULING_POINT = 8  # a running job stands at a point at which it may be resized
    NODE_DOWN = 16
    NODE_UP = 32
    WAKE = 64
    RELEASED = 128  # a running job has given something back before its end
    REQUEST = 256  # a running job asks for another size
    RESERVATION = 512  # one begins or ends


class EventKind(IntEnum):
    """What comes from outside, at times known before a run. Of events at one time, lower kinds happen first."""

    SUBMIT = 0
    CANCEL = 1
    RESERVATION = 2  # its subject is no job
    START = 3  # of a job that runs before the policy decides anything


class LegEnd(IntEnum):
    """What follows when a leg ends."""

    NEXT = 0  # the job waits for its next leg, with what it carries
    OVER = 1  # the job is over
    AGAIN = 2  # the job waits for the same leg once more, with what it carried into it


class Urgency(IntEnum):
    """Why a job that has begun waits again: the more urgent go first, and those alike in order of submission.

    All that wait for a later leg go before those that start their first one again.
    """

    NEXT_LEG = 0  # these in the order in which they came
    INTERRUPTED = 1  # by the policy
    FAILED = 2  # one of its nodes did


class Resume(IntEnum):
    """The checkpoint from which a job that the policy interrupts goes on later."""

    LAST = 0  # that is complete: it stops now
    NOW = 1  # one that it writes now: it stops when that is complete
    NEXT = 2  # the one that it would write next


class Verb(IntEnum):
    """What a policy may ask for."""

    START = 1
    RESIZE = 2
    INTERRUPT = 3
    WAKE = 4
    REJECT = 5
    KILL = 6
    STOP = 9  # the policy cannot go on: it raised
    IO_WEIGHT = 10  # the share of each stream of a job's transfers
    IO_HOLD = 11  # they stop
    IO_RELEASE = 12  # and go on
    IO_CAP = 13  # bytes/s that they get at most


AGAIN = 1
"""The way of a resize after which the policy is called again in this instant, if the job gives nodes up at its point.

The job has then gone on from it, and cannot be resized there once more: so this comes to an end."""


class LogReason(IntEnum):
    """The reason column of the log: why a job started, ended or was turned away."""

    NONE = 0
    IN_ORDER = 1  # started at the head of the queue
    BACKFILLED = 2  # started ahead of a job that came before it
    COMPLETED = 10
    WALLTIME = 11
    CANCELLED = 12  # its user withdrew it
    INTERRUPTED = 13  # the leg goes back to the queue
    RESIZED = 14  # a running job gets nodes, or gives some back
    NODE_DOWN = 15  # the leg goes back to the queue: one of its nodes has failed
    TOO_LARGE = 20  # asks for more than the machine has
    BY_POLICY = 21
    OVER_LIMIT = 22  # of what a user may run
    DEPENDENCY = 23  # what it waits for can never happen
    PARTITION = 24  # takes no jobs, or lets none start, to the end of the run
    STAGE_IN = 30  # from here on: 30 + PhaseKind, which phase begins or ends
    COMPUTE = 31
    CHECKPOINT = 32
    DRAIN = 33
    READ = 34
    WRITE = 35
    STAGE_OUT = 36
    RECONFIGURE = 37
    FETCH = 38
    SAVE = 39
    RECOVER = 40


class LogKind(IntEnum):
    """What a row of the log records."""

    SUBMIT = 0
    QUEUE = 1  # a later leg joins the queue
    START = 2
    ACQUIRE = 3
    RELEASE = 4
    END = 5  # a leg's end; the job's when it was its last leg
    REJECT = 6
    BEGIN_PHASE = 7
    END_PHASE = 8  # with the bytes it moved; a drain may have several, one a route; a SAVE that was cut off has -1
    CANCEL = 9  # withdrawn while it waits
    NODE_DOWN = 10  # of no job; the amount is the number of the node
    NODE_UP = 11
    ELIGIBLE = 12  # it waited for others, the amount is the id of the last of them, or outside, and joins the queue


class Status(IntEnum):
    """What the engine says when it hands control back."""

    DONE = 0
    DECIDE = 1  # an instant is complete: it is the policy's turn
    PAUSED = 2  # the slice of decisions is used up (progress bar, Ctrl-C)
    STALLED = 4
    REFUSED = 5  # an action was refused; Refusal says why
    STOPPED = 6  # the policy raised


class Refusal(IntEnum):
    """Why an action was refused."""

    NONE = 0
    UNKNOWN_JOB = 1
    NOT_SUBMITTED = 2
    ALREADY_STARTED = 3
    ENDED = 4
    OVERSUBSCRIBED = 5
    WAKE_NOT_LATER = 6
    TOO_MANY_WAKES = 7
    CANNOT_REJECT = 8
    UNKNOWN_VERB = 9
    TOO_MANY_ACTIONS = 10
    WRONG_NODES = 11  # picked nodes that are not free, not there, or too many or few
    NO_ROOM = 12  # a chunk that fits on no server, or not on the one picked
    OVER_LIMIT = 13  # a job that its user's limits hold back
    WRONG_WAY = 14  # to run, which the job does not have
    UNKNOWN_REASON = 15  # for a start
    WRONG_SIZE = 16  # which the job may not have
    CANNOT_RESIZE = 17  # a job that does not run, or whose size is not for the policy to change
    DOES_NOT_RESIZE = 18  # a policy that has not said that it does
    CANNOT_KILL = 19  # a job that has ended, or was not submitted
    CANNOT_INTERRUPT = 20  # a job that does not run
    JUST_STARTED = 21  # in this instant: nothing would come of it
    NO_CHECKPOINTS = 22  # which the job was to write before it stops
    UNKNOWN_RESUME = 23
    DOES_NOT_STEER = 24  # a policy that has not said that it does, or in a run in which nothing moves
    CANNOT_STEER = 25  # a job that has ended, or was not submitted
    NO_IO = 26  # which was to be held
    CAP_TOO_LOW = 27  # for the job to end within a century


class Flexibility(IntEnum):
    """Who decides on a job's size, and when."""

    RIGID = 0
    MOLDABLE = 1  # the policy, when it starts
    MALLEABLE = 2  # the policy, at scheduling points
    EVOLVING = 3  # the job asks, and the policy grants or refuses
    ADAPTIVE = 4  # both


EXACT, STATED, LEARNED = KNOWN = ("exact", "stated", "learned")
"""Whence a policy knows of a job: what it really does, what its user says, what the last jobs of this user did."""
