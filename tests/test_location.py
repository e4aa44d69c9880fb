import pytest

from astjit.location import Location, excerpt

LINE = "    y = x.foo()\n"


def test_prints_as_editors_read_it():
    assert str(Location("model.py", 3, 8, 15)) == "model.py:3"


@pytest.mark.parametrize(
    ("start", "end", "carets"),
    [
        (8, 15, "        ^^^^^^^"),
        (8, None, "        ^^^^^^^"),
        (None, None, "    ^^^^^^^^^^^"),
        (8, 8, "        ^"),
        (8, 99, "        ^^^^^^^"),
    ],
)
def test_the_caret_stands_under_what_is_meant(start, end, carets):
    shown = excerpt(Location("model.py", 3, start, end), LINE)
    assert shown == f"        y = x.foo()\n    {carets}"


def test_no_text_no_caret():
    assert excerpt(Location("model.py", 3, 8, 15), "\n") == ""


def test_a_tab_counts_as_one_column():
    assert excerpt(Location("model.py", 3, 1, 2), "\ty = 1").splitlines()[1] == "     ^"


def test_the_short_form_has_no_folder():
    assert Location("/home/me/model.py", 7).short == "model.py:7"
