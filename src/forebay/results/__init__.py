"""Runs, saved and loaded: the Result, the files of its folder, and the records that studies keep of thousands.

This is all that knows what a saved run looks like. It stands below everything else but plain files, so what has a
Result can save it, and a change of the files compiles nothing again.
"""

from forebay.results._format import OWN_METRICS
from forebay.results._load import load, read_document
from forebay.results._nodes import first_ids, n_ids
from forebay.results._records import Record, load_record, save_record
from forebay.results._result import JOBS_CSV, JOBS_MORE, Result
from forebay.results._save import document, files, saving
from forebay.results._spent import SPENT, spent

__all__ = [
    "JOBS_CSV",
    "JOBS_MORE",
    "OWN_METRICS",
    "SPENT",
    "Record",
    "Result",
    "document",
    "files",
    "first_ids",
    "load",
    "load_record",
    "n_ids",
    "read_document",
    "save_record",
    "saving",
    "spent",
]
