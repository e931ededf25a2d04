"""Where the real traces are: the folder that FOREBAY_DATA names. Without it, tests that need them are skipped."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("FOREBAY_DATA")
    if not folder:
        pytest.skip("FOREBAY_DATA does not name the folder of real traces")
    return Path(folder)
