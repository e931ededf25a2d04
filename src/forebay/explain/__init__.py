"""Why jobs waited: every wait of a run in pieces, each with its reason and the job that stood in the way.

All of it comes from the tables of a Result, so it can be had of any run, also of one that was saved. What a policy
thought is not known, unless it said so (`act.say`).
"""

from forebay.explain._chain import chain
from forebay.explain._holders import holders
from forebay.explain._reasons import reasons, summary_of
from forebay.explain._words import REASONS

__all__ = ["REASONS", "chain", "holders", "reasons", "summary_of"]
