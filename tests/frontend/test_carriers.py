"""Run-time numbers: arithmetic stays symbolic, answers become guards, everything else pins."""

import copy
import math
import operator

import pytest
import torch

from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int, Number, carrier, number_of, square_root
from astjit.frontend.reads import Reads
from astjit.types.shape import Sym


@pytest.fixture
def capture():
    return Capture("f", Reads(), Config())


def size(capture, name="n", value=4):
    capture.size_paths[name] = f"x.shape[{name!r}]"
    sym = Sym(name, value)
    return carrier(capture, Number(value, capture.dim_text(sym), sym))


def shown(value):
    return str(number_of(value).dim)


def guards(capture):
    return [guard.test for guard in capture.reads.guards]


def facts(capture):
    return [str(fact) for fact in capture.sizes.assumed]


@pytest.mark.parametrize(
    ("compute", "text"),
    [
        (lambda n: n + 1, "n + 1"),
        (lambda n: 1 + n, "n + 1"),
        (lambda n: n - 1, "n - 1"),
        (lambda n: 10 - n, "-1*n + 10"),
        (lambda n: n * 2 + n, "3*n"),
        (lambda n: n // 2, "n // 2"),
        (lambda n: n % 3, "n % 3"),
        (lambda n: -n, "-1*n"),
        (lambda n: n**2, "n*n"),
        (lambda n: divmod(n, 3)[0], "n // 3"),
        (lambda n: divmod(n, 3)[1], "n % 3"),
        (lambda n: +n, "n"),
    ],
)
def test_arithmetic_of_sizes_stays_symbolic(capture, compute, text):
    n = size(capture)
    result = compute(n)
    assert type(result) is Int
    assert shown(result) == text
    assert number_of(result).hint == compute(4)
    assert facts(capture) == guards(capture) == []


def test_a_size_minus_itself_is_a_plain_number(capture):
    n = size(capture)
    assert n - n == 0
    assert type(n - n) is int


@pytest.mark.parametrize(
    ("ask", "answer", "fact"),
    [
        (lambda n: n == 4, True, "n == 4"),
        (lambda n: n != 4, False, "n == 4"),
        (lambda n: n > 3, True, "3 < n"),
        (lambda n: n >= 5, False, "n < 5"),
        (lambda n: n < 5, True, "n < 5"),
        (lambda n: n <= 3, False, "3 < n"),
        (lambda n: bool(n), True, "n != 0"),
        (lambda n: abs(n) == 4, True, "n == 4"),
        (lambda n: n in (3, 4), True, "n != 3"),
    ],
)
def test_questions_about_sizes_become_facts(capture, ask, answer, fact):
    assert ask(size(capture)) is answer
    assert fact in facts(capture)


@pytest.mark.parametrize(
    "take",
    [
        int,
        float,
        complex,
        operator.index,
        hash,
        str,
        repr,
        "{}".format,
        lambda n: f"{n:3d}",
        lambda n: "%d" % n,  # noqa: UP031
        lambda n: list(range(n)),
        lambda n: [0] * n,
        lambda n: [1, 2, 3, 4, 5][n],
        lambda n: {n: 1},
        lambda n: n & 6,
        lambda n: 6 | n,
        lambda n: ~n,
        lambda n: n << 1,
        lambda n: 2**n,
        lambda n: n.bit_length(),
        round,
        math.sqrt,
        math.floor,
        math.ceil,
        math.trunc,
        lambda n: torch.arange(n).numel(),
    ],
)
def test_what_needs_the_value_pins_it_with_a_reason(capture, take):
    n = size(capture)
    assert take(n) == take(4)
    assert facts(capture) == ["n == 4"]
    (reason,) = capture.sizes.pins.values()
    assert "its value" in reason or "used in **" in reason or "C function" in reason


def scalar(capture, value):
    return capture.scalar(value, "s")


def test_floats_keep_their_arithmetic_as_text_and_as_a_tree(capture):
    s = scalar(capture, 0.25)
    result = 1 - s * 2
    assert type(result) is Float
    number = number_of(result)
    assert (number.text, number.hint, number.op) == ("(1 - (s * 2))", 0.5, "sub")
    value = capture.number_value(number)
    assert [node.op.name for node in capture.function.body.nodes] == ["mul", "sub"]
    assert capture.number_value(number) is value
    assert guards(capture) == ["type(s) is float"]


def test_a_number_is_an_input_only_when_it_is_used(capture):
    s = scalar(capture, 0.25)
    assert capture.function.params == []
    capture.number_value(number_of(s))
    assert [(p.name, p.path, str(p.type)) for p in capture.function.params] == [("s", "s", "float")]


@pytest.mark.parametrize(
    ("value", "take", "test"),
    [
        (0.25, str, "s == 0.25"),
        (0.25, lambda s: s**0.5, "s == 0.25"),
        (3, lambda s: list(range(s)), "s == 3"),
        (0.0, str, "repr(s) == '0.0'"),
        (float("inf"), str, "s == float('inf')"),
        (float("nan"), str, "s != s"),
        (0.25, lambda s: s > 0, "(0 < s)"),
        (0.25, lambda s: s == 0.5, "not (s == 0.5)"),
        (2, lambda s: s < 5, "(s < 5)"),
        (2, bool, "(s != 0)"),
    ],
)
def test_numbers_from_outside_are_guarded_by_what_was_asked(capture, value, take, test):
    take(scalar(capture, value))
    assert guards(capture)[1:] == [test]


def test_the_guard_on_zero_tells_its_sign(capture):
    str(scalar(capture, 0.0))
    test = guards(capture)[1]
    assert eval(test, {"s": 0.0})
    assert not eval(test, {"s": -0.0})


def test_a_size_and_a_number_meet_in_host_arithmetic(capture):
    result = scalar(capture, 0.5) * size(capture)
    assert number_of(result).text == "(s * x.shape['n'])"
    assert number_of(result).dim is None
    assert number_of(result).hint == 2.0


@pytest.mark.parametrize(
    ("compute", "text"),
    [
        (lambda n, k: n % k, "n % 4"),
        (lambda n, k: n // k, "n // 4"),
        (lambda n, k: k // n, "4 // n"),
    ],
)
def test_a_size_divided_by_a_number_pins_the_number_only(capture, compute, text):
    assert shown(compute(size(capture, value=28), scalar(capture, 4))) == text
    assert guards(capture) == ["type(s) is int", "s == 4"]
    assert facts(capture) == []


def test_errors_are_pythons(capture):
    n = size(capture)
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(TypeError):
        n + "a"
    assert (n == "a") is False


def test_copies_are_the_number_itself(capture):
    n = size(capture)
    assert copy.copy(n) is n
    assert copy.deepcopy([n])[0] is n


def test_torch_passes_carriers_on_unchanged(capture):
    seen = []

    class Wrapped(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.extend([*args[1:], *(kwargs or {}).values()])
            return args[0]

    x = torch.empty(2, 3).as_subclass(Wrapped)
    n, s = size(capture), scalar(capture, 0.5)
    for call in (
        lambda: x * s,
        lambda: s * x,
        lambda: x.add(x, alpha=s),
        lambda: x.clamp(min=s),
        lambda: torch.nn.functional.layer_norm(x, (n,), eps=s),
        lambda: torch.nn.functional.leaky_relu(x, s),
        lambda: x.view(n, -1),
        lambda: x.expand(n, 2, 3),
        lambda: x[0:n],
    ):
        seen.clear()
        call()
        flat = [p for v in seen for p in (v if isinstance(v, tuple) else (v,))]
        flat += [v.stop for v in flat if isinstance(v, slice)]
        assert any(v is n or v is s for v in flat)
    assert facts(capture) == []
    assert guards(capture) == ["type(s) is float"]


@pytest.mark.parametrize(("take", "row"), [(lambda n: n**0.5, "pow"), (square_root, "sqrt")])
def test_the_root_of_a_size_is_a_number_of_the_program(capture, take, row):
    n = size(capture)
    made = take(n * 2)
    number = made.node.number
    assert (number.op, number.hint, facts(capture)) == (row, 8**0.5, [])
    assert eval(number.text.replace("x.shape['n']", "4"), {"torch": torch}) == 8**0.5
    assert take(n - 3) == 1.0
    assert facts(capture) == ["n - 3 == 1"]
