import os
import threading
from pathlib import Path

import pytest

from astjit.runtime.cache import DiskCache, cache_folder

KEY = "ab" + "0" * 62


def test_what_is_stored_is_found(tmp_path):
    cache = DiskCache(tmp_path)
    assert cache.find(KEY, ".so") is None
    assert cache.read(KEY, ".so") is None
    path = cache.store(KEY, ".so", b"code")
    assert cache.find(KEY, ".so") == path == tmp_path / "ab" / f"{KEY}.so"
    assert cache.read(KEY, ".so") == b"code"
    assert path.read_bytes().startswith(b"code")


@pytest.mark.parametrize("damage", [b"", b"co", b"code", b"x" * 100])
def test_a_damaged_file_counts_as_absent_and_is_replaced(tmp_path, damage):
    cache = DiskCache(tmp_path)
    cache.store(KEY, ".so", b"code").write_bytes(damage)
    assert cache.find(KEY, ".so") is None
    cache.store(KEY, ".so", b"code")
    assert cache.read(KEY, ".so") == b"code"


def test_one_flipped_bit_is_seen(tmp_path):
    cache = DiskCache(tmp_path)
    path = cache.store(KEY, ".so", b"code")
    path.write_bytes(b"code".replace(b"o", b"n") + path.read_bytes()[4:])
    assert cache.read(KEY, ".so") is None


def test_a_folder_that_cannot_be_written_is_as_good_as_none(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    cache = DiskCache(tmp_path / "file")
    assert cache.store(KEY, ".so", b"code") is None
    assert cache.find(KEY, ".so") is None


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("full")

    monkeypatch.setattr(os, "replace", refuse)
    assert DiskCache(tmp_path).store(KEY, ".so", b"code") is None
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_writers_at_once_leave_one_whole_file(tmp_path):
    cache = DiskCache(tmp_path)
    contents = [bytes([number]) * 50_000 for number in range(8)]
    threads = [threading.Thread(target=cache.store, args=(KEY, ".so", c)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.read(KEY, ".so") in contents
    assert [p.name for p in (tmp_path / "ab").iterdir()] == [f"{KEY}.so"]


def test_the_folder_is_the_users_own_choice(monkeypatch):
    monkeypatch.setenv("ASTJIT_CACHE_DIR", "/somewhere/else")
    assert cache_folder() == Path("/somewhere/else")
    monkeypatch.delenv("ASTJIT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder() == Path("/caches/astjit")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path("~/.cache/astjit").expanduser()
