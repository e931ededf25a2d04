"""Why jobs waited: every wait of a run in pieces, each with its reason and the job that stood in the way.

`forebay.explain(result, 17)` and `result.explain(17)` give one answer with all of it, the functions here its parts.

All of it comes from the tables of a Result, so it can be had of any run, also of one that was saved. What a policy
thought is not known, unless it said so (`act.say`).
"""

import sys
from types import ModuleType

from forebay.explain._chain import chain
from forebay.explain._holders import holders
from forebay.explain._reasons import reasons, summary_of
from forebay.explain._words import REASONS
from forebay.explain.answer import Explanation, explain

__all__ = ["REASONS", "Explanation", "chain", "explain", "holders", "reasons", "summary_of"]


class _Room(ModuleType):
    """This package, which can be called: `forebay.explain(result, job)` is what most want of it."""

    __call__ = staticmethod(explain)


sys.modules[__name__].__class__ = _Room
