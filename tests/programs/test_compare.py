"""Comparing random programs finds what a wrong compiler does."""

import copy
import types
from dataclasses import replace

import pytest
import torch

import astjit
from tests.programs import run
from tests.programs.generate import generate
from tests.programs.program import Call, Program, block, smaller
from tests.programs.run import shrunk
from tests.programs.world import run_program

SEEDS = range(40)


class Nothing:
    programs = hits = 0


def wrong(change):
    """A compile() whose functions do `change(function, args, kwargs)`."""

    def compile(function):
        def call(*args, **kwargs):
            return change(function, args, kwargs)

        call.cache_info = lambda: Nothing
        return call

    return compile


def each_tensor(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(each_tensor(part, change) for part in value)
    return value


def as_written(function, args, kwargs):
    return function(*args, **kwargs)


def contiguous(function, args, kwargs):
    return each_tensor(function(*args, **kwargs), torch.Tensor.contiguous)


def cloned(function, args, kwargs):
    return each_tensor(function(*args, **kwargs), torch.Tensor.clone)


def another_object(function, args, kwargs):
    return each_tensor(function(*args, **kwargs), torch.Tensor.detach)


def on_copies(function, args, kwargs):
    return function(*copy.deepcopy(args), **kwargs)


def one_ulp_away(function, args, kwargs):
    def nudged(t):
        return torch.nextafter(t, torch.ones_like(t)) if t.dtype == torch.float32 else t

    return each_tensor(function(*args, **kwargs), nudged)


def without_sign_of_zero(function, args, kwargs):
    return each_tensor(function(*args, **kwargs), lambda t: t + 0)


def wide(function, args, kwargs):
    return each_tensor(function(*args, **kwargs), lambda t: t.double())


def silent(function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except Exception:
        return None


def reworded(function, args, kwargs):
    try:
        return function(*args, **kwargs)
    except RuntimeError as error:
        raise RuntimeError("other words") from error


def stale_number():
    first = {}

    def change(function, args, kwargs):
        if "n" in kwargs:
            kwargs["n"] = first.setdefault(function, kwargs["n"])
        return function(*args, **kwargs)

    return change


def stale_global(function, args, kwargs):
    names = function.__globals__
    kept, names["SCALE"] = names["SCALE"], 2.0
    try:
        return function(*args, **kwargs)
    finally:
        names["SCALE"] = kept


def never_warm(function, args, kwargs):
    code = function.__code__.replace()  # Python specialises each code object by itself
    return types.FunctionType(code, function.__globals__)(*args, **kwargs)


def faults(monkeypatch, change, seeds=SEEDS):
    monkeypatch.setattr(astjit, "compile", wrong(change))
    found = [run_program(generate(seed)).fault for seed in seeds]
    return {fault.difference.kind for fault in found if fault is not None}


def test_two_runs_of_a_program_are_alike(monkeypatch):
    assert faults(monkeypatch, as_written) == set()


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (contiguous, "strides"),
        (cloned, "identity"),
        (another_object, "identity"),
        (on_copies, "values"),
        (one_ulp_away, "values"),
        (wide, "dtype"),
        (silent, "type"),
        (reworded, "exception"),
        (stale_number(), "values"),
    ],
)
def test_a_wrong_compiler_is_found_out(monkeypatch, change, kind):
    assert kind in faults(monkeypatch, change)


def program(*body, signature="x", calls=(("x = values((2, 3), torch.float32, 1)",),)):
    module = ("import torch", "SCALE = 2.0", block(f"def f({signature}):", *body))
    return Program(module, tuple(Call(setup, "f(x)") for setup in calls))


def kind_of(monkeypatch, change, made):
    monkeypatch.setattr(astjit, "compile", wrong(change))
    fault = run_program(made).fault
    return fault and fault.kind


def test_lost_sharing_is_seen(monkeypatch):
    made = program("y = x + 1", "return y, y[0]")
    assert kind_of(monkeypatch, as_written, made) is None
    assert kind_of(monkeypatch, cloned, made) == "sharing of result"


def test_a_lost_sign_of_zero_is_seen(monkeypatch):
    made = program("return x * 0.0")
    assert kind_of(monkeypatch, without_sign_of_zero, made) == "values of result"


def test_a_stale_global_is_seen(monkeypatch):
    first = ("x = values((2, 3), torch.float32, 1)",)
    made = program("return x * SCALE", calls=(first, ("m.SCALE = 3.0",)))
    assert kind_of(monkeypatch, stale_global, made) == "values of result"


def test_half_an_effect_before_an_exception_is_seen(monkeypatch):
    made = program("x.add_(1)", "raise ValueError('no')")
    assert kind_of(monkeypatch, as_written, made) is None
    assert kind_of(monkeypatch, on_copies, made) == "values of argument"


def test_the_line_of_an_unbound_name_is_pythons_affair(monkeypatch):
    body = (block("if x is not None:", "c = x"), block("for i in range(9):", "c.dim()"))
    calls = (("x = torch.ones(2)",), ("x = torch.ones(2)",), ("x = None",))
    assert kind_of(monkeypatch, never_warm, program(*body, calls=calls)) is None


def test_a_failing_program_becomes_small(monkeypatch):
    monkeypatch.setattr(astjit, "compile", wrong(contiguous))
    made = program("y = x + 1", "if True:\n    z = x * 2", "return x.t()")
    least, fault = shrunk(made, "strides of result")
    assert least.text == "def f(x):\n    return x.t()\n"
    assert fault.kind == "strides of result"


def test_smaller_programs_lack_one_thing_each():
    made = program(block("if x is None:", "return x"), "return x", calls=((), ()))
    assert all(len(str(less)) < len(str(made)) for less in smaller(made))
    assert len({str(less) for less in smaller(made)}) > 5


def test_a_smaller_program_still_ends():
    loop = block("while turns0 < 3:", "turns0 += 1", "x = x + 1")
    made = program("turns0 = 0", loop, "return x")
    loops = [str(less) for less in smaller(made) if "while" in str(less)]
    assert len(loops) > 2
    assert all("turns0 += 1" in text for text in loops)


def test_a_smaller_program_that_does_not_end_is_left(monkeypatch):
    """`all` of an object that lost its length and iterator asks for elements for ever."""
    monkeypatch.setattr(astjit, "compile", wrong(contiguous))
    monkeypatch.setattr(run, "_LONGEST", 0.3)
    box = block(
        "class Box:",
        block("def __iter__(self):", "return iter((1, 2))"),
        block("def __getitem__(self, at):", "return 1"),
    )
    body = block("def f(x):", "all(Box())", "return x.t()")
    made = program("return x.t()")
    made = replace(made, module=(*made.module[:-1], box, body))
    least, fault = shrunk(made, "strides of result")
    assert least.text == "def f(x):\n    return x.t()\n"
    assert fault.kind == "strides of result"


def test_a_seed_gives_one_program():
    assert str(generate(7)) == str(generate(7))
    assert str(generate(7)) != str(generate(8))
