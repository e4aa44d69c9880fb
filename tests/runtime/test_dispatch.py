import threading
import time
import types
import warnings
from dataclasses import replace

import pytest
import torch

from astjit.config import Config
from astjit.errors import AstjitWarning, UnsupportedOp, UnsupportedSyntax
from astjit.frontend.stops import Failed, NeedsGrad, Stop
from astjit.location import Location
from astjit.runtime.dispatch import MOST_PROGRAMS, Dispatcher, call_kind
from astjit.runtime.entry import Loaded
from astjit.runtime.words import MISS


def original(x, flag=None):
    if x == "raises":
        raise ValueError("the user's")
    return "eager"


def fits_type(values):
    """A program for arguments of the types given."""
    wanted = [type(v) for v in values]

    def run(*given):
        return ("program", *given) if [type(v) for v in given] == wanted else MISS

    def why_not(*given):
        return "" if [type(v) for v in given] == wanted else f"x is no {wanted[0].__name__}"

    return Loaded(run, why_not, lambda: [("built", 2)])


class Builds:
    """Builds programs, or raises, and counts."""

    def __init__(self, make=fits_type):
        self.make, self.seen = make, []

    def __call__(self, values):
        self.seen.append(values)
        return self.make(values)


def dispatcher(make=fits_type, **options):
    builds = Builds(make)
    made = Dispatcher(original, Config(**options), builds)
    return made, made.entry.call, builds


def raises(error):
    def make(values):
        raise error

    return make


def test_a_program_for_each_way_in_which_calls_differ():
    made, call, builds = dispatcher()
    results = [call(1), call(2), call(2.5), call(3)]
    assert results == [("program", v, None) for v in (1, 2, 2.5, 3)]
    assert builds.seen == [(1, None), (2.5, None)]
    assert made.info() == (2, 2, 2, 1, 0, 2, 4, ("x is no int",))


def test_clearing_forgets_everything():
    made, call, builds = dispatcher()
    call(1)
    made.clear()
    assert made.info() == (0, 0, 0, 0, 0, 0, 0, ())
    assert call(1) == ("program", 1, None)
    assert len(builds.seen) == 2


def stop(syntax=False):
    made = Stop("print() is an effect", syntax=syntax)
    return made.at(Location(__file__, 1))


def test_a_stop_is_told_once_with_its_place_and_remembered():
    made, call, builds = dispatcher(raises(stop()))
    with pytest.warns(AstjitWarning, match=r"test_dispatch.py:1: original runs eagerly: ") as told:
        assert [call(1), call(2), call(2.5)] == ["eager"] * 3
    assert len(told) == 1
    assert told[0].filename == __file__
    assert len(builds.seen) == 2  # ints once, floats once
    assert (made.info().programs, made.info().misses) == (0, 3)


@pytest.mark.parametrize(("syntax", "error"), [(False, UnsupportedOp), (True, UnsupportedSyntax)])
def test_fullgraph_raises_with_a_caret(syntax, error):
    _, call, _ = dispatcher(raises(stop(syntax)), fullgraph=True)
    with pytest.raises(error) as caught:
        call(1)
    assert "^^^" in str(caught.value)
    assert caught.value.seen == "print() is an effect"
    with pytest.raises(error):
        call(1)


def test_gradients_run_eagerly_in_silence_and_are_counted():
    made, call, builds = dispatcher(raises(NeedsGrad("x")), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [call(1), call(2)] == ["eager", "eager"]
    assert made.gradients == 2
    assert len(builds.seen) == 1


def test_the_users_own_exception_appears_and_nothing_is_remembered():
    _, call, builds = dispatcher(raises(TypeError("from capture")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(ValueError, match="the user's"):
                call("raises")
    assert len(builds.seen) == 2


def test_our_exception_is_a_bug_that_is_logged_and_told(caplog):
    _, call, builds = dispatcher(raises(TypeError("from capture")))
    with pytest.warns(AstjitWarning, match="because of a bug in astjit: TypeError: from capture"):
        assert call(1) == "eager"
    assert call(1) == "eager"
    assert len(builds.seen) == 1
    assert "from capture" in caplog.text


def test_an_error_that_the_users_code_catches_is_no_bug(caplog):
    def make(values):
        try:
            raise Failed(RuntimeError("sizes do not fit"))
        except Failed as failed:
            raise failed.error from None

    _, call, _ = dispatcher(make)
    with pytest.warns(AstjitWarning, match="its code may catch: sizes do not fit"):
        assert call(1) == "eager"
    assert caplog.text == ""


def test_a_program_whose_own_guards_fail_is_a_bug():
    def make(values):
        return Loaded(lambda *given: MISS, lambda *given: "x is odd", lambda: [])

    made, call, _ = dispatcher(make)
    with pytest.warns(AstjitWarning, match="its own guards do not hold: x is odd"):
        assert call(1) == "eager"
    assert made.info().programs == 0


def test_effects_of_the_original_happen_once():
    ran = []
    made = Dispatcher(lambda x: ran.append(x), Config(), raises(TypeError("from capture")))
    with pytest.warns(AstjitWarning):
        made.entry.call(1)
    assert ran == [1]


def test_what_a_program_has_to_tell_is_told_at_the_users_line():
    def make(values):
        return replace(fits_type(values), warning="kernels run through PyTorch: no C++ compiler")

    _, call, _ = dispatcher(make)
    with pytest.warns(AstjitWarning, match="through PyTorch") as told:
        assert call(1) == ("program", 1, None)
    assert [warning.filename for warning in told] == [__file__]


def test_too_many_programs():
    kinds = [type(f"T{n}", (), {}) for n in range(MOST_PROGRAMS + 2)]
    _, call, builds = dispatcher()
    for kind in kinds[:MOST_PROGRAMS]:
        assert call(kind())[0] == "program"
    with pytest.warns(AstjitWarning, match=r"8 programs; other calls .*x is no T7") as told:
        assert call(kinds[-1]()) == call(kinds[-2]()) == "eager"
    assert len(told) == 1
    assert len(builds.seen) == MOST_PROGRAMS
    assert call(kinds[0]())[0] == "program"


def test_the_reason_that_most_programs_have_is_told():
    def make(values):
        (value, _) = values
        wrong = "y is no tensor" if value == 3 else f"x is not {value}: range() (model.py:7)"

        def run(given, flag):
            return "program" if given == value else MISS

        return Loaded(run, lambda given, flag: "" if given == value else wrong, lambda: [])

    made, call, _ = dispatcher(make)
    for value in range(MOST_PROGRAMS):
        call(value)
    with pytest.warns(AstjitWarning, match=r"7 of them do not fit because: x is not 7: range\(\)"):
        call(MOST_PROGRAMS)
    assert made.info().reasons[3] == "x is not 2: range() (model.py:7)"


def test_disabled():
    made, call, builds = dispatcher(disabled=True)
    assert call(1) == "eager"
    made.clear()
    assert call(1) == "eager"
    assert builds.seen == []


def test_proxies_and_modes_are_not_captured():
    builds = Builds()
    made = Dispatcher(lambda x: "eager", Config(), builds)
    proxy = torch.fx.Proxy(torch.fx.Graph().placeholder("x"))
    assert made.missed(proxy) == "eager"
    with torch.device("cpu"):
        assert made.missed(1) == "eager"
    assert builds.seen == []


def test_what_happens_is_logged(caplog):
    caplog.set_level("INFO", "astjit")
    _, call, _ = dispatcher()
    call(1)
    call(2.5)
    assert [record.getMessage() for record in caplog.records] == [
        "original: program 0, because new",
        "original: none of 1 fits: x is no int",
        "original: program 1, because x is no int",
    ]


def test_many_threads_build_one_program():
    def slow(values):
        time.sleep(0.01)
        return fits_type(values)

    _, call, builds = dispatcher(slow)
    results = []
    threads = [threading.Thread(target=lambda: results.append(call(1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [("program", 1, None)] * 8
    assert len(builds.seen) == 1


def test_kinds_of_calls():
    x = torch.ones(2, 3)
    same = [
        (x, torch.ones(5, 7)),
        (1, 2),
        (1.0, 2.0),
        ([x, 1], [x, 2]),
        ({"a": x}, {"a": torch.ones(4, 4)}),
    ]
    other = [
        (x, x.double()),
        (x, x[0]),
        (x, x.clone().requires_grad_()),
        (1, 1.0),
        (True, False),
        ("a", "b"),
        ([x], [x, x]),
        ({"a": x}, {"b": x}),
        (test_kinds_of_calls, test_disabled),
        (types.MethodType(original, 1), types.MethodType(test_disabled, 1)),
    ]
    assert [call_kind((a,)) == call_kind((b,)) for a, b in same] == [True] * len(same)
    assert [call_kind((a,)) == call_kind((b,)) for a, b in other] == [False] * len(other)
    with torch.no_grad():
        quiet = call_kind((1,))
    assert quiet != call_kind((1,))
