"""A Result by the name that the engine uses; it lives in `forebay.results`, with the files that it is saved to."""

from forebay.results import JOBS_CSV, Result

__all__ = ["JOBS_CSV", "Result"]
