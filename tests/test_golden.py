"""The `golden` fixture: it compares, it shows the difference, it writes only when asked."""

import pytest


def test_equal_text_passes(golden, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    golden("a.txt", "one\ntwo\n", tmp_path)


def test_other_text_fails_with_a_diff(golden, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)-two\n\+three.*--update-golden"):
        golden("a.txt", "one\nthree\n", tmp_path)
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"


def test_absent_text_fails(golden, tmp_path):
    with pytest.raises(pytest.fail.Exception, match=r"no tests/golden/b/a\.txt"):
        golden("b/a.txt", "one\n", tmp_path)
    assert not (tmp_path / "b").exists()


def test_update_writes(request, tmp_path, monkeypatch):
    monkeypatch.setattr(request.config.option, "update_golden", True)
    request.getfixturevalue("golden")("b/a.txt", "one\n", tmp_path)
    assert (tmp_path / "b" / "a.txt").read_text() == "one\n"
