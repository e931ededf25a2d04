"""The log and the placements, however small their buffers are."""

import pytest

import forebay
from cases import pooled, transfers
from constancy.runs import Dice, fingerprint
from forebay.engine import record, truth

pytestmark = pytest.mark.small


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_full_buffer_is_emptied_in_the_middle_of_a_step(rows, monkeypatch):
    """One start writes several rows and takes several pieces of nodes: nothing is lost between them."""
    runs = [(pooled.make(3), "fcfs-bb", {}), (transfers.make(2), "filler", {"job_model": "io-aware"})]
    runs.append((pooled.make(9), Dice(), {"seed": 4}))
    whole = [forebay.simulate(*made, policy, **options) for made, policy, options in runs]
    monkeypatch.setattr(truth, "BUFFER", rows)
    for (made, policy, options), expected in zip(runs, whole, strict=True):
        found = forebay.simulate(*made, policy, **options)
        assert fingerprint(found) == fingerprint(expected)
        assert found.facts["log_sha256"] == expected.facts["log_sha256"]
        assert found.placements.equals(expected.placements)


def test_what_emptying_raises_ends_the_run(monkeypatch):
    """Ctrl-C may arrive there: it must neither be lost nor leave a buffer full."""

    def interrupted(self, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(truth, "BUFFER", 3)
    monkeypatch.setattr(record._Columns, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        forebay.simulate(*pooled.make(3), "fcfs-bb")
