"""What is known of jobs' I/O, and phases made of it: Darshan's logs, shares by queue or user, a model for the rest."""

from forebay.workload.io.attach import Known, attach
from forebay.workload.io.darshan import read
from forebay.workload.io.shares import Share, parse_share

__all__ = ["Known", "Share", "attach", "parse_share", "read"]
