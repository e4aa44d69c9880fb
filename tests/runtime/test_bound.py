import copy
import functools
import pickle

import pytest
import torch

from astjit.runtime.bound import Bound, parts


def add(x, y, *, by=1):
    return x + y * by


class Adder:
    by = 2

    def __init__(self, by=2):
        self.by = by

    def __call__(self, x):
        return x + self.by

    def method(self, x, y):
        return x * y * self.by

    @classmethod
    def of_class(cls, x):
        return x + cls.by


class Static:
    @staticmethod
    def __call__(x):
        return x + 1


class Traced:
    """What stands for a compiled function: says what it is asked."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return "compiled", self.function(*args, **kwargs)

    def ssa(self, *args, **kwargs):
        return args, kwargs

    def cache_info(self):
        return self.function.__name__


def compiled(function):
    return Traced(function)


ADDER = Adder()


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (add, (add, (), {})),
        (functools.partial(add, 1, by=3), (add, (1,), {"by": 3})),
        (functools.partial(functools.partial(add, 1, by=3), 2, by=4), (add, (1, 2), {"by": 4})),
        (ADDER, (Adder.__call__, (ADDER,), {})),
        (ADDER.method, (Adder.method, (ADDER,), {})),
        (Adder.of_class, (Adder.of_class.__func__, (Adder,), {})),
        (functools.partial(ADDER.method, 1), (Adder.method, (ADDER, 1), {})),
        (Static(), (Static.__call__, (), {})),
        (Bound(ADDER.method, compiled), (Adder.method, (ADDER,), {})),
        (print, None),
        (len, None),
        (Adder, None),
        (3, None),
        (functools.partial(torch.exp), None),
        (functools.lru_cache(add), None),
        ("".join, None),
    ],
)
def test_parts(target, wanted):
    assert parts(target) == wanted


def test_a_module_is_run_as_a_module():
    module = torch.nn.ReLU()
    assert parts(functools.partial(module, 1)) == (module, (1,), {})


def test_calls_go_to_the_compiled_function():
    assert Bound(functools.partial(add, 1, by=3), compiled)(2) == ("compiled", 7)
    assert Bound(functools.partial(add, 1, by=3), compiled)(2, by=1) == ("compiled", 3)
    assert Bound(Adder(5), compiled)(1) == ("compiled", 6)
    with pytest.raises(TypeError, match="missing 1 required"):
        Bound(Adder(5), compiled)()


def test_what_is_called_is_looked_up_at_each_call():
    class Own(Adder):
        def __call__(self, x):
            return x - 1

    held = functools.partial(add, 1, by=3)
    bound = Bound(held, compiled)
    assert bound(2) == ("compiled", 7)
    held.keywords["by"] = 1
    assert bound(2) == ("compiled", 3)
    bound = Bound(Own(), compiled)
    assert bound(1) == ("compiled", 0)
    Own.__call__ = lambda self, x: x + 10
    assert bound(1) == ("compiled", 11)
    Own.__call__ = len
    with pytest.raises(TypeError):
        bound()
    with pytest.raises(AttributeError, match="not written in Python"):
        bound.ssa()


def test_a_function_is_compiled_once():
    made = []

    def count(function):
        made.append(function)
        return function

    bound = Bound(ADDER.method, count)
    assert [bound(1, 2), bound(3, 4)] == [4, 24]
    assert made == [Adder.method]


def test_methods_of_the_compiled_function_take_the_arguments_of_a_call():
    bound = Bound(functools.partial(add, 1, by=3), compiled)
    assert bound.ssa(2) == ((1, 2), {"by": 3})
    assert bound.cache_info() == "add"


def test_attributes_are_the_objects_own():
    adder = Adder(5)
    bound = Bound(adder, compiled)
    bound.by = 6
    assert (adder.by, bound.by, bound(1)) == (6, 6, ("compiled", 7))
    del bound.by
    assert (adder.by, bound.by) == (2, 2)
    with pytest.raises(AttributeError, match="'Adder' object has no attribute 'other'"):
        _ = bound.other
    method = Bound(adder.method, compiled)
    assert (method.__self__, method.__name__, method.__wrapped__) == (adder, "method", adder.method)
    assert bound.__astjit__.function is adder
    assert repr(bound) == f"<compiled {adder!r}>"


def test_copies():
    adder = Adder(5)
    bound = Bound(adder, compiled)
    assert copy.copy(bound).__wrapped__ is adder
    for made in (copy.deepcopy(bound), pickle.loads(pickle.dumps(bound))):
        assert made.__wrapped__ is not adder
        assert made(1) == ("compiled", 6)
