import threading

import pytest

from astjit.frontend.stops import RAISED, Failed, NeedsGrad, Stop, here, user_frame, words
from astjit.location import Location


def rewritten(__astjit__):
    """What capture copies look like: code that reaches `__astjit__` as a free variable."""

    def inner():
        return __astjit__()

    return inner


def plain(function):
    return function()


@pytest.fixture(autouse=True)
def forget():
    RAISED.first = None
    yield
    RAISED.first = None


def test_the_innermost_rewritten_frame_is_found():
    assert user_frame() is None
    assert here() is None
    frame = rewritten(lambda: plain(user_frame))()
    assert frame.f_code.co_name == "inner"


def test_a_stop_knows_its_place_and_line():
    stop = rewritten(lambda: Stop("why", syntax=True))()
    assert stop.location.file == __file__
    assert stop.source_line.strip() == "return __astjit__()"
    line, location = stop.source_line, stop.location
    assert line[location.column : location.end_column] == "__astjit__()"
    assert (stop.reason, stop.syntax, location.function) == (
        "why",
        True,
        "rewritten.<locals>.inner",
    )


def test_a_stop_can_be_placed_elsewhere():
    stop = Stop("why").at(Location(__file__, 1))
    assert stop.source_line == "import threading\n"


@pytest.mark.parametrize(
    "make", [lambda: Stop("a"), lambda: NeedsGrad("x"), lambda: Failed(ValueError())]
)
def test_no_handler_of_exceptions_catches_them(make):
    def careful():
        try:
            raise make()
        except Exception:
            return "swallowed"

    with pytest.raises((Stop, NeedsGrad, Failed)) as raised:
        careful()
    assert not isinstance(raised.value, Exception)
    assert RAISED.first is raised.value


def test_the_first_one_is_remembered_by_thread():
    first = Stop("first")
    Stop("second")
    other = []
    thread = threading.Thread(target=lambda: other.append(RAISED.first))
    thread.start()
    thread.join()
    assert RAISED.first is first
    assert other == [None]


def test_words():
    assert words("a b  c") == {"a", "b", "c"}
