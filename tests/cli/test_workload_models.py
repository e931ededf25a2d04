"""`forebay workload generate`, `models`, and models on `convert`."""

import json

import pytest
from polars.testing import assert_frame_equal

from forebay.workload import models, read


def test_generate_writes_the_same_file_for_the_same_seed(forebay, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        code, out, _ = forebay(
            "workload", "generate", "lublin99:nodes=64", "-o", tmp_path / f"{name}.swf", "--jobs", 50, "--seed", seed
        )
        assert code == 0
        assert "50 untyped jobs for 64 nodes" in out
        assert f"seed {seed}]" in out
    a, b, c = ((tmp_path / f"{name}.swf").read_bytes() for name in "abc")
    assert a == b != c
    assert len(read(tmp_path / "a.swf")) == 50
    assert read(tmp_path / "a.swf").platform == "flat:nodes=64"


def test_generate_completes_jobs_by_other_models(forebay, tmp_path):
    attached = ("--model", "tsafrir05", "--model", "burst-buffer:least=1GB")
    target = tmp_path / "a.json"
    document = forebay("workload", "generate", "feitelson96", "-o", target, *attached, "--seed", 4, "--format", "json")
    facts = json.loads(document.out)
    assert facts["jobs"] == 1000
    assert [line.rpartition("[")[2] for line in facts["provenance"]] == [
        "feitelson96, seed 4]",
        "tsafrir05, seed 4]",
        "burst-buffer:least=1GB, seed 4]",
    ]
    assert (read(target).jobs["burst_buffer"] >= 1e9).any()


def test_convert_attaches_models_after_all_other_changes(forebay, tmp_path):
    target = tmp_path / "out.json"
    models_of = ("--model", "tsafrir05:maximum=2d", "--model", "burst-buffer")
    code, out, _ = forebay(
        "workload", "convert", "default", target, *models_of, "--first", 50, "--perfect-estimates", "--seed", 9
    )
    assert code == 0
    steps = [line.split()[1] for line in out.splitlines() if line.startswith("from")]
    assert steps[0] == "embedded"
    assert steps[-4:] == ["first", "perfect", "walltimes", "burst"]
    assert out.count("seed 9]") == 2
    assert read(target).jobs["walltime"].max() <= 2 * 86400


def test_convert_is_what_the_library_does(forebay, tmp_path):
    forebay("workload", "convert", "default", tmp_path / "a.swf", "--model", "tsafrir05", "--seed", 3)
    mine = models.attach(read("default"), ["tsafrir05"], 3).jobs.select("id", "walltime")
    assert_frame_equal(read(tmp_path / "a.swf").jobs.select("id", "walltime"), mine)


def test_models_are_listed_with_their_parameters(forebay):
    found = json.loads(forebay("workload", "models", "--format", "json").out)
    assert [one["name"] for one in found] == models.names()
    text = forebay("workload", "models").out
    assert all(one["name"] in text for one in found)
    for one in found:
        code, out, _ = forebay("workload", "models", one["name"])
        assert code == 0
        assert all(key in out for key in one["parameters"])
    assert json.loads(forebay("workload", "models", "io_phases", "--format", "json").out)["name"] == "io-phases"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lublin98"], "did you mean 'lublin99'?"),
        (["burst-buffer"], "makes no jobs"),
        (["lublin99:nodes=two"], "nodes='two' is not a whole number"),
        (["lublin99:longest=2x"], "longest"),
        (["lublin99", "--jobs", "0"], "jobs is 0"),
        (["lublin99", "--model", "lublin99"], "a workload of its own"),
        (["lublin99", "--model", "burst-buffer:from=memory"], "needs a job column 'memory'"),
        (["lublin99", "--model", "burst-buffer:source=memory"], "no parameter 'source'"),
        (["lublin99", "--model", "burst-buffer:from_=memory"], "did you mean 'from'?"),
        (["lublin99", "--model", "burst-buffer:from=disk"], "from is 'disk'; give one of lognormal, memory"),
    ],
)
def test_generate_refuses(forebay, tmp_path, words, says):
    code, out, err = forebay("workload", "generate", *words, "-o", tmp_path / "a.json")
    assert (code, out) == (2, "")
    assert says in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_fit_bb_ranks_distributions(forebay):
    facts = json.loads(forebay("workload", "fit-bb", "default", "--format", "json").out)
    assert (facts["column"], facts["values"], facts["folds"]) == ("burst_buffer", 3000, 5)
    distances = [one["distance"] for one in facts["distributions"]]
    assert distances == sorted(distances)
    assert facts["distributions"][0]["name"] == "lognormal"
    code, out, _ = forebay("workload", "fit-bb", "default")
    assert code == 0
    spec = out.split("--model ")[1].strip()
    assert models.attach(read("default"), [spec], 0).jobs["burst_buffer"].min() > 0


def test_fit_bb_refuses(forebay):
    code, _, err = forebay("workload", "fit-bb", "table1")
    assert code == 2
    assert "too few" in err


def test_what_is_counted_is_not_shown_in_bytes(forebay, tmp_path):
    head = "JobID|Submit|ElapsedRaw|AllocTRES"
    (tmp_path / "w.sacct").write_text(f"{head}\n1|5|6|node=1,mem=3G,license/foo=2,gres/gpu=4,gres/gpumem=1G\n")
    rows = [line.split() for line in forebay("workload", "info", tmp_path / "w.sacct").out.splitlines()]
    shown = {" ".join(row[:2]): row[-2:] for row in rows if len(row) > 6}
    assert shown["license foo"] == ["2", "2"]
    assert ["gpus", "4", "4", "4", "4", "4"] in rows
    assert shown["gres gpumem"] == ["1", "GiB"]
