"""What the shell offers at a tab, asked for as bash asks."""

import pytest


@pytest.fixture
def offered(forebay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def complete(*words):
        monkeypatch.setenv("_FOREBAY_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(("forebay", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        code, out, _ = forebay()
        assert code == 0
        return out.split()

    return complete


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["run", "--policy", "fcfs"], ["fcfs", "fcfs-bb", "fcfs-easy", "fcfs-malleable"]),
        (["compare", "--policies", "fcfs,filler,sjf-e"], ["fcfs,filler,sjf-easy"]),
        (["run", "--platform", "dragonfly"], ["dragonfly-96", "dragonfly-96-nic"]),
        (["platforms", "tab"], ["table1"]),
        (["study", "kop"], ["kopanski2021"]),
        (["run", ""], ["default", "table1"]),
        (["run", "table1", "--format", ""], ["text", "json", "latex", "markdown"]),
        (["run", "table1", "--job-model", "io"], ["io-aware"]),
        (["run", "table1", "--failures", "mtbf=1h,d"], ["mtbf=1h,downtime="]),
        (["plot", "out", "--figure", "w"], ["wait-by-size", "waits"]),
        (["plot", "out", "--figure", "pan"], []),
        (["workload", "split", "default", "3", "--suffix", ".sw"], [".swf", ".swf.gz"]),
        (["workload", "generate", "lub"], ["lublin99"]),
        (["workl"], ["workload"]),
    ],
)
def test_names(offered, words, found):
    assert offered(*words) == found


def test_files_that_begin_like_a_workload_are_offered_too(offered, tmp_path):
    (tmp_path / "table1.swf").touch()
    (tmp_path / "table1[2].swf").touch()
    assert offered("run", "tab") == ["table1", "table1.swf", "table1[2].swf"]
    assert offered("run", "table1[") == []  # the shell's own names of files


def test_the_script_is_shown(shell):
    code, out, _ = shell("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert code == 0
    assert "_FOREBAY_COMPLETE=complete_bash" in out
