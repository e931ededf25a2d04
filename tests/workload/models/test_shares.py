"""Shares are from 0 to 1, and who writes per cent is told so."""

import pytest

from forebay.errors import InputError
from forebay.workload.models import attach, generate

pytestmark = pytest.mark.small


@pytest.mark.parametrize("model", ["lublin99", "feitelson96"])
def test_a_load_in_per_cent(model):
    words = f"model '{model}': load is 80; load is a share of the machine, 5 at most: write 0.8 for 80 %"
    with pytest.raises(InputError, match=words):
        generate(f"{model}:jobs=20,nodes=64,load=80", seed=1)
    with pytest.raises(InputError, match=r"load is 1e[+]06; load is a share of the machine, 5 at most$"):
        generate(f"{model}:jobs=20,nodes=64,load=1e6", seed=1)
    assert len(generate(f"{model}:jobs=20,nodes=64,load=1.5", seed=1)) == 20


def test_a_share_in_per_cent():
    jobs = generate("lublin99:jobs=20,nodes=64", seed=1)
    with pytest.raises(InputError, match=r"share is 75; give a share from 0 to 1: write 0\.75 for 75 %"):
        attach(jobs, ["fan2019:share=75"], seed=1)
    with pytest.raises(InputError, match=r"share is -1; give a share from 0 to 1$"):
        attach(jobs, ["fan2019:share=-1"], seed=1)
