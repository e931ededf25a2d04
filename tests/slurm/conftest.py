"""Descriptions of sites: written on the spot, or as a real Slurm 22.05 printed them (shown/)."""

from pathlib import Path

import pytest

from forebay.slurm.description import describe

SHOWN = Path(__file__).parent / "shown"


@pytest.fixture
def shown() -> Path:
    """One small cluster: its slurm.conf, and what scontrol and sinfo said of it while slurmctld ran."""
    return SHOWN


@pytest.fixture
def told(tmp_path):
    """The description of a slurm.conf with these lines, and of further files: name=text."""

    def make(text, **files):
        path = tmp_path / "slurm.conf"
        path.write_text(text)
        for name, content in files.items():
            (tmp_path / f"{name}.txt").write_text(content)
        return describe([path, *(tmp_path / f"{name}.txt" for name in files)])

    return make
