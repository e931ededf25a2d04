"""Machines as files."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Writes the file of a machine, and returns its path."""

    def write(text):
        path = tmp_path / "site.toml"
        path.write_text(text)
        return path

    return write
