"""Numbers of a run: one function a metric, each from a Result to a number or a frame; `summary` gives them all.

Every function of a module here is `forebay.metrics.NAME`, and one marked `@metric` is in every summary: adding one
touches its own file alone. Entry points `forebay.metrics` name modules of other packages with more, and
`forebay.metric` adds those of a script, a notebook or a file of yours.

Parameters
----------
result
    The first argument of all of them: what `forebay.simulate` or `forebay.load` returns, or a `window` of it.

Examples
--------
>>> result = fb.simulate("table1")
>>> fb.metrics.mean_wait(result), fb.metrics.makespan(result)
(142.5, 660.0)
"""

from typing import TYPE_CHECKING, Any

from forebay.metrics._listing import public
from forebay.metrics._own.decorator import metric
from forebay.metrics._summary import summary

_FOUND = public(__name__, __path__)
globals().update(_FOUND)  # a function takes the place of a module of its name, such as `window`
__all__ = ["metric", "summary"]
__all__.extend(_FOUND)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
