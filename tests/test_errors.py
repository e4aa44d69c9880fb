import inspect

import pytest

from astjit import errors
from astjit.errors import (
    AstjitError,
    AstjitWarning,
    InternalError,
    InvalidIR,
    KernelBuildError,
    UnsupportedOp,
    UserError,
)
from astjit.location import Location


def test_a_user_error_shows_place_caret_and_what_to_write():
    place = Location("model.py", 3, 11, 19)
    error = UnsupportedOp(
        "x.add_(1) writes", location=place, source_line="    return x.add_(1)\n", instead="x + 1"
    )
    assert str(error) == (
        "model.py:3: x.add_(1) writes\n"
        "        return x.add_(1)\n"
        "               ^^^^^^^^\n"
        "  instead: x + 1"
    )
    assert (error.seen, error.location, error.instead) == ("x.add_(1) writes", place, "x + 1")


def test_without_a_place_only_the_words():
    assert str(UserError("too many")) == "too many"


def test_a_broken_invariant_names_the_pass_and_shows_the_text():
    error = InvalidIR("%1 is used before it is made", after="cse", text="fn f():\n  return %1")
    assert str(error).startswith("invalid IR after pass 'cse' (a bug in astjit): %1 is used")
    assert str(error).endswith("\nfn f():\n  return %1")


def test_a_failed_build_names_command_and_text():
    error = KernelBuildError("g++ -O2 unit.cpp", "unit.cpp", "line 3: no")
    assert str(error) == (
        "compilation of unit.cpp failed (a bug in astjit)\n  g++ -O2 unit.cpp\nline 3: no"
    )


CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if kind.__module__ == errors.__name__
]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_has_its_place_in_the_tree(kind):
    assert issubclass(kind, (AstjitError, AstjitWarning))
    assert kind.__name__ in errors.__doc__
    assert not issubclass(kind, InternalError) or not issubclass(kind, UserError)
