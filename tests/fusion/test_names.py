"""Names are the user's own, unique, and valid in C."""

import pytest

from astjit.fusion.names import Names, identifier


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("x", "x"),
        ("state['w.1']", "state_w_1"),
        ("self.weight", "self_weight"),
        ("2x!", "v2x"),
        ("", ""),
    ],
)
def test_identifier(name, wanted):
    assert identifier(name) == wanted


def test_each_name_once():
    names = Names(("rows",))
    assert names.take("x") == "x"
    assert names.take("x") == "x2"
    assert names.take("x") == "x3"
    assert names.take("rows") == "rows2"
    assert names.take("", "out") == "out"
    assert names.take("x", also="_") == "x_"
    assert names.take("x", also="_") == "x_2"
