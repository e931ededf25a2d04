"""Files take their names whole, and temporary names are nobody else's."""

import os
import threading

import pytest

from forebay._support.files import file_names, replacing, writable_folder
from forebay._support.reading import read_bytes
from forebay.errors import InputError

pytestmark = pytest.mark.small


def test_two_threads_may_write_the_same_file_at_once(tmp_path):
    target, both = tmp_path / "t.csv", threading.Barrier(2)
    wrong = []

    def write(text):
        try:
            with replacing(target) as [temporary]:
                temporary.write_text(text)
                both.wait()
                if temporary.read_text() != text:
                    wrong.append(text)
                both.wait()
        except BaseException as error:
            wrong.append(error)
            both.abort()

    threads = [threading.Thread(target=write, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert target.read_text() in ("one", "two")
    assert os.listdir(tmp_path) == ["t.csv"]


def test_temporary_files_can_be_found_and_have_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "t.csv") as [temporary]:
            temporary.write_text("x")
            assert temporary.name.startswith(".forebay-")
            assert temporary.parent == tmp_path
    finally:
        os.umask(before)
    assert (tmp_path / "t.csv").stat().st_mode & 0o777 == 0o640


def test_a_name_as_long_as_can_be_is_written(tmp_path):
    target = tmp_path / ("x" * 251 + ".csv")
    with replacing(target) as [temporary]:
        temporary.write_text("x")
    assert target.read_text() == "x"


def test_two_processes_of_one_number_may_try_a_folder_at_once(tmp_path, monkeypatch):
    """As on two hosts that share a file system: each probe is its own."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    (tmp_path / ".forebay-7").mkdir()
    assert writable_folder(tmp_path) == tmp_path


def test_names_of_files_fit_a_file_system():
    names = file_names(["é" * 400, "é" * 400, "../x", ""])
    assert all(len(name.encode()) <= 200 for name in names)
    assert len(set(names)) == 4
    assert names[2:] == ["_x", "policy"]


def test_a_file_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    """It has no bytes on the disk: what counts is how many it says that it has."""
    path = tmp_path / "huge.swf"
    with path.open("wb") as file:
        file.truncate(2**42)
    with pytest.raises(InputError, match=r"huge.swf: has 4,398.0 GB, more than fits in memory; is this the file\?"):
        read_bytes(path)
    with pytest.raises(InputError, match="has more than 1 MB"):
        read_bytes(path, 10**6)
