"""Learn how long jobs run from jobs that have ended.

An estimator is a plug-in, a file of `forebay/learn/estimators`: it is shown jobs as they end, and says how long another
is likely to run, as a distribution. `score` tries estimators on a trace in order of time.

    >>> learner = fb.learn.load("survival")
    >>> job = fb.learn.Asked(user=7, nodes=4, walltime=3600.0)
    >>> for seconds in (600.0, 640.0, 3600.0):
    ...     learner.learn(job, seconds)
    >>> bool(600 <= learner.likely(job).quantile(0.5) <= 1000)
    True
"""

from forebay.learn._base import Asked, Estimator, Likely
from forebay.learn._load import describe, load, names
from forebay.learn._score import Scores, score
from forebay.learn._table import asked_of

__all__ = ["Asked", "Estimator", "Likely", "Scores", "asked_of", "describe", "load", "names", "score"]
