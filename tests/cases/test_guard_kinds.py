"""Each kind of thing that a call depends on: when only that changes, the answer is eager's."""

import builtins
import contextlib
import enum
import math
import types
import warnings

import pytest
import torch
import torch.nn.functional as F

import astjit
from astjit.runtime import outside
from tests.cases.guard_kinds import KINDS, Kind, changed, item, kind

X = torch.tensor([[0.5, -1.0, 2.0], [3.0, 4.0, -5.0]])
Y = torch.tensor([[1.5, 2.0, -3.0], [0.25, 1.0, 6.0]])
SCALE = 2.0
COUNT = 2
WEIGHT = torch.tensor([1.0, 2.0, 3.0])
LIMITS = types.ModuleType("limits")
LIMITS.low = -1.0
LIMITS.shape = lambda x: x + 1
OPTIONS = {"scale": 2.0, "bias": True}
FACTORS = [2.0, 3.0]
PAIR = (2.0, True)
NAMES = {"a", "b"}


class Mode(enum.Enum):
    SUM = 1
    MEAN = 2


class Config:
    """A plain object with a class attribute, a property and a method."""

    power = 2

    def __init__(self, eps=0.5, causal=True):
        self.eps, self.causal, self.inner = eps, causal, None

    @property
    def doubled(self):
        return self.eps * 2

    def apply(self, x):
        return x + self.eps

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def raised(cls, x):
        return x**cls.power


class Base:
    pass


class Derived(Base):
    def run(self, x):
        return x * 2


class Lazy:
    def __getattr__(self, name):
        if name == "scale":
            return 3.0
        raise AttributeError(name)


class Slotted:
    __slots__ = ("scale",)


class Weights:
    """Tensors as attributes."""

    def __init__(self):
        self.w = WEIGHT.clone()


CONFIG = Config()


def shifted(x):
    return x + 1


def other(x):
    return x - 1


def with_default(x, by=1.0, *, flag=True):
    return x * by if flag else x - by


def reads_global(x):
    return x * SCALE


def put(name, value):
    return item(globals(), name, value)


# --- arguments -----------------------------------------------------------------------------------


def times(x, k):
    return x * k if k is not None else x


@kind("the value of a float", programs=1)
def _():
    yield times, (X, 2.0)
    yield (X, 0.0)
    yield (X, -0.0)
    yield (X, math.inf)
    yield (X, math.nan)
    yield (X, 1e-300)


@kind("the value of an int", programs=1)
def _():
    yield times, (X, 2)
    yield (X, 0)
    yield (X, 1)
    yield (X, -(2**40))


@kind("an int beyond 64 bits", programs=1)
def _():
    yield (lambda x, k: (x + 1, k * 2)), (X, 2)
    yield (X, 2**70)
    yield (X, 2**71)


@kind("1, 1.0 and True", programs=3)
def _():
    def typed(x, k):
        return x * k, isinstance(k, float), k

    yield typed, (X.long(), 1)
    yield (X.long(), 1.0)
    yield (X.long(), True)


@kind("a number that becomes None")
def _():
    yield times, (X, 2.0)
    yield (X, None)


@kind("a number that becomes a tensor")
def _():
    yield times, (X, 2.0)
    yield (X, Y)


@kind("a bool", programs=2)
def _():
    yield (lambda x, flag: x + 1 if flag else x - 1), (X, True)
    yield (X, False)


def reduced(x, how):
    return x.sum(-1) if how == "sum" else x.mean(-1)


@kind("a string")
def _():
    yield reduced, (X, "sum")
    yield (X, "mean")


@kind("an enum")
def _():
    yield (lambda x, how: x.sum(-1) if how is Mode.SUM else x.mean(-1)), (X, Mode.SUM)
    yield (X, Mode.MEAN)


@kind("a dtype")
def _():
    yield (lambda x, dtype: x.to(dtype)), (X, torch.float64)
    yield (X, torch.bfloat16)


@kind("an axis")
def _():
    yield (lambda x, dim: x.sum(dim)), (X, 0)
    yield (X, 1)
    yield (X, -1 + 1)


@kind("a branch on a number, on the same side", programs=1)
def _():
    yield (lambda x, k: x + k if k > 1 else x - k), (X, 2.0)
    yield (X, 3.0)


@kind("a branch on a number, on the other side")
def _():
    yield (lambda x, k: x + k if k > 1 else x - k), (X, 2.0)
    yield (X, 0.5)
    yield (X, math.nan)


@kind("an exponent")
def _():
    yield (lambda x, k: x**k), (X, 2)
    yield (X, 3)


@kind("the number of arguments")
def _():
    def total(x, *more):
        for part in more:
            x = x + part
        return x

    yield total, (X, Y)
    yield (X, Y, Y)


@kind("arguments by name, in another order")
def _():
    def named(x, **more):
        return [x * value for value in more.values()], list(more)

    yield named, ((X,), {"a": 1.0, "b": 2.0})
    yield ((X,), {"b": 2.0, "a": 1.0})


@kind("an argument by name that was positional", programs=1)
def _():
    yield times, (X, 2.0)
    yield ((X,), {"k": 3.0})


@kind("aliasing of arguments")
def _():
    def same(x, y):
        return (x + y, x is y)

    yield same, (X, Y)
    yield (X, X)


@kind("aliasing of arguments, the other way")
def _():
    def same(x, y):
        return (x + y, x is y)

    yield same, (X, X)
    yield (X, Y)


# --- tensors -------------------------------------------------------------------------------------


def plain(x):
    return torch.exp(x) * 2 + x.sum(-1, keepdim=True)


@kind("sizes", programs=1)
def _():
    yield plain, (X,)
    yield (torch.ones(7, 5),)
    yield (torch.ones(0, 5),)


@kind("a size of 1")
def _():
    yield plain, (X,)
    yield (torch.ones(1, 3),)
    yield (torch.ones(4, 3),)


@kind("a size of 1 that becomes n")
def _():
    yield plain, (torch.ones(1, 3),)
    yield (X,)


@kind("rank")
def _():
    yield plain, (X,)
    yield (X[None].repeat(2, 1, 1),)


@kind("dtype", programs=4)
def _():
    yield plain, (X,)
    yield (X.double(),)
    yield (X.bfloat16(),)
    yield (X.long(),)


@kind("layout")
def _():
    yield plain, (X,)
    yield (X.t(),)


@kind("the class of strides", programs=4)
def _():
    yield plain, (torch.ones(4, 6),)
    yield (torch.ones(8, 6)[::2],)
    yield (torch.ones(4, 12)[:, ::2],)
    yield (torch.ones(6).expand(4, 6),)


@kind("a parameter instead of a tensor", programs=1)
def _():
    yield plain, (X,)
    yield (torch.nn.Parameter(X.clone(), requires_grad=False),)


@kind("a tensor subclass", programs=1, warns="tensor subclass")
def _():
    class Tagged(torch.Tensor):
        pass

    yield plain, (X,)
    yield (X.as_subclass(Tagged),)


@kind("a lazy conjugate's part", programs=2)
def _():
    z = torch.complex(X, Y)
    yield plain, (z.imag,)
    yield (z.conj().imag.clone(),)


@kind("requires_grad", programs=1)
def _():
    x = X.clone()
    yield plain, (x,)
    x.requires_grad_()
    yield (x,)
    x.requires_grad_(False)
    yield (x,)


@kind("requires_grad, read")
def _():
    x = X.clone()
    with torch.no_grad():
        yield (lambda x: x + 1 if x.requires_grad else x - 1), (x,)
        x.requires_grad_()
        yield (x,)


@kind("another tensor in .data")
def _():
    x = X.clone()
    yield plain, (x,)
    x.data = Y.double()
    yield (x,)


@kind("another tensor of the same kind in .data", programs=1)
def _():
    x = X.clone()
    yield plain, (x,)
    x.data = torch.ones(4, 4)
    yield (x,)


@kind("values written in place", programs=1)
def _():
    x = X.clone()
    yield plain, (x,)
    x.mul_(3)
    yield (x,)


@kind("an attribute of a tensor", programs=3)
def _():
    x = X.clone()
    yield (lambda x: x * getattr(x, "scale", 2.0)), (x,)
    x.scale = 4.0
    yield (x,)
    x.scale = 5
    yield (x,)


# --- globals, cells, defaults --------------------------------------------------------------------


@kind("a global number", programs=1)
def _():
    yield reads_global, (X,)
    with put("SCALE", 5.0):
        yield (X,)


@kind("a global number of another type")
def _():
    yield reads_global, (X.long(),)
    with put("SCALE", 5):
        yield (X.long(),)


@kind("a global number that becomes a tensor")
def _():
    yield reads_global, (X,)
    with put("SCALE", Y):
        yield (X,)


@kind("a global number that names a loop's length")
def _():
    def repeated(x):
        for _ in range(COUNT):
            x = x * 2
        return x

    yield repeated, (X,)
    with put("COUNT", 3):
        yield (X,)


@kind("a global tensor", programs=1)
def _():
    yield (lambda x: x * WEIGHT), (X,)
    with put("WEIGHT", torch.tensor([5.0, 6.0, 7.0])):
        yield (X,)


@kind("a global tensor of another dtype")
def _():
    yield (lambda x: x * WEIGHT), (X,)
    with put("WEIGHT", WEIGHT.double()):
        yield (X,)


@kind("a global function")
def _():
    yield (lambda x: shifted(x) * 2), (X,)
    with put("shifted", other):
        yield (X,)


@kind("a global that is deleted and then Python's own", programs=3)
def _():
    def highest(x):
        return x * max(2.0, 3.0)

    yield highest, (X,)
    with put("max", lambda a, b: a):
        yield (X,)
    with put("max", min):
        yield (X,)


@kind("an attribute of a module", programs=1)
def _():
    yield (lambda x: x.clamp(LIMITS.low)), (X,)
    with changed(LIMITS, "low", 0.0):
        yield (X,)


@kind("a function of a module")
def _():
    yield (lambda x: LIMITS.shape(x) * 2), (X,)
    with changed(LIMITS, "shape", other):
        yield (X,)


@kind("a global module")
def _():
    yield (lambda x: LIMITS.shape(x) * 2), (X,)
    module = types.ModuleType("limits")
    module.shape = other
    with put("LIMITS", module):
        yield (X,)


@kind("a closure cell", programs=1)
def _():
    by = 2.0

    def inside(x):
        return x * by

    yield inside, (X,)
    by = 3.0
    yield (X,)


@kind("a closure cell that two functions share", programs=2)
def _():
    by, up = 2.0, True

    def helper(x):
        return x * by if up else x - by

    def inside(x):
        return helper(x) + by

    yield inside, (X,)
    by = 3.0
    yield (X,)
    up = False
    yield (X,)


@kind("a function in a closure cell", programs=2)
def _():
    helper = shifted

    def inside(x):
        return helper(x) + 1

    yield inside, (X,)
    helper = other
    yield (X,)


def fresh_default():
    def defaulted(x, by=1.0, *, flag=True):
        return x * by if flag else x - by

    return defaulted


@kind("__defaults__ of the function", programs=1)
def _():
    function = fresh_default()
    yield function, (X,)
    function.__defaults__ = (4.0,)
    yield (X,)


@kind("__defaults__ of another type", programs=2)
def _():
    function = fresh_default()
    yield function, (X.long(),)
    function.__defaults__ = (4,)
    yield (X.long(),)


@kind("__defaults__ that are gone", programs=1)
def _():
    function = fresh_default()
    yield function, (X, 2.0)
    function.__defaults__ = None
    yield (X, 3.0)
    function.__kwdefaults__["flag"] = True
    yield (X, 3.0)


@kind("__kwdefaults__ of the function")
def _():
    function = fresh_default()
    yield function, (X,)
    function.__kwdefaults__ = {"flag": False}
    yield (X,)


@kind("the function's own __code__")
def _():
    def function(x):
        return x + 1

    yield function, (X,)
    function.__code__ = (lambda x: x - 1).__code__
    yield (X,)


@kind("__code__ of a callee")
def _():
    def helper(x):
        return x + 1

    yield (lambda x: helper(x) * 2), (X,)
    helper.__code__ = (lambda x: x - 1).__code__
    yield (X,)


@kind("defaults of a callee", programs=1)
def _():
    helper = fresh_default()
    yield (lambda x: helper(x) + 2), (X,)
    helper.__defaults__ = (7.0,)
    yield (X,)


@kind("how many defaults a callee has")
def _():
    def helper(x, a=1.0, b=2.0):
        return x * a + b

    yield (lambda x: helper(x, 5.0)), (X,)
    helper.__defaults__ = (3.0, 4.0, 6.0)[1:]
    yield (X,)
    helper.__defaults__ = (9.0, 3.0, 4.0)
    yield (X,)


@kind("keyword defaults of a callee")
def _():
    helper = fresh_default()
    yield (lambda x: helper(x) + 2), (X,)
    helper.__kwdefaults__["flag"] = False
    yield (X,)


@kind("a new keyword default of a callee")
def _():
    def helper(x, *, by=1.0):
        return x * by

    yield (lambda x: helper(x)), (X,)
    helper.__kwdefaults__ = {"by": 2}
    yield (X,)


@kind("a callee's globals")
def _():
    space = {"SCALE": 2.0}
    helper = types.FunctionType(reads_global.__code__, space, "helper")
    yield (lambda x: helper(x) + 1), (X,)
    space["SCALE"] = Y
    yield (X,)


@kind("a callee with the same code and other globals")
def _():
    def make(scale):
        return types.FunctionType(reads_global.__code__, {"SCALE": scale}, "helper")

    helper = make(2.0)
    yield (lambda x: helper(x) + 1), (X,)
    helper = make(Y)
    yield (X,)


@kind("a callee with the same code and another closure", programs=1)
def _():
    def make(by):
        return lambda x: x * by

    helper = make(2.0)
    yield (lambda x: helper(x) + 1), (X,)
    helper = make(3.0)
    yield (X,)


# --- builtins and torch --------------------------------------------------------------------------


@kind("a builtin replaced")
def _():
    yield (lambda x: x * abs(-2.0)), (X,)
    with changed(builtins, "abs", lambda x: 7.0):
        yield (X,)


@kind("a builtin replaced in a callee")
def _():
    def helper(x):
        return x * abs(-2.0)

    yield (lambda x: helper(x) + 1), (X,)
    with changed(builtins, "abs", lambda x: 7.0):
        yield (X,)


@kind("__builtins__ of the module replaced", programs=1, warns="")
def _():
    yield (lambda x: x * abs(-2.0)), (X,)
    with put("__builtins__", {**vars(builtins), "abs": lambda x: 7.0}):
        yield (X,)


@kind("a function of torch replaced")
def _():
    yield (lambda x: torch.exp(x) + 1), (X,)
    with changed(torch, "exp", torch.log1p):
        yield (X,)


@kind("a function of torch.nn.functional replaced")
def _():
    yield (lambda x: F.relu(x) + 1), (X,)
    with changed(F, "relu", torch.exp):
        yield (X,)


@kind("a method of Tensor replaced")
def _():
    yield (lambda x: x.exp() + 1), (X,)
    with changed(torch.Tensor, "exp", lambda self: self * 10):
        yield (X,)


@kind("an operator of Tensor replaced")
def _():
    yield (lambda x: x + 1), (X,)
    with changed(torch.Tensor, "__add__", lambda self, other: self * 10):
        yield (X,)


@kind("a property of Tensor replaced")
def _():
    yield (lambda x: x * x.ndim), (X,)
    with changed(torch.Tensor, "ndim", property(lambda self: 10)):
        yield (X,)


@kind("a method of Tensor added")
def _():
    yield (lambda x: x * 2 if hasattr(x, "brand_new") else x), (X,)
    with changed(torch.Tensor, "brand_new", lambda self: self * 10):
        yield (X,)


@kind("a constant of math", programs=2)
def _():
    yield (lambda x: x * math.pi), (X,)
    with changed(math, "pi", 3.0):
        yield (X,)


# --- objects -------------------------------------------------------------------------------------


def configured(x, c):
    return x * c.eps if c.causal else x + c.eps


@kind("an attribute", programs=1)
def _():
    c = Config()
    yield configured, (X, c)
    c.eps = 4.0
    yield (X, c)


@kind("an attribute that chooses a branch")
def _():
    c = Config()
    yield configured, (X, c)
    c.causal = False
    yield (X, c)


@kind("another object of the same class", programs=1)
def _():
    yield configured, (X, Config())
    yield (X, Config(3.0))


@kind("an object of another class")
def _():
    class Other(Config):
        pass

    yield configured, (X, Config())
    yield (X, Other(3.0, False))


@kind("__class__ assigned")
def _():
    class Other(Config):
        def apply(self, x):
            return x * 100

    c = Config()
    yield (lambda x, c: c.apply(x)), (X, c)
    c.__class__ = Other
    yield (X, c)


@kind("an attribute at the end of a path", programs=2)
def _():
    c = Config()
    c.inner = Config()
    c.inner.inner = {"deep": [Config()]}

    def deep(x, c):
        found = c.inner.inner["deep"][0]
        return x * found.eps if found.causal else x

    yield deep, (X, c)
    c.inner.inner["deep"][0].eps = 3.0
    yield (X, c)
    c.inner.inner["deep"][0] = Config(7.0)
    yield (X, c)
    c.inner.inner["deep"][0].causal = False
    yield (X, c)


@kind("a property", programs=1)
def _():
    c = Config()
    yield (lambda x, c: x * c.doubled), (X, c)
    c.eps = 4.0
    yield (X, c)


@kind("a property replaced")
def _():
    c = Config()
    yield (lambda x, c: x * c.doubled), (X, c)
    with changed(Config, "doubled", property(lambda self: self.eps * 5)):
        yield (X, c)


@kind("a class attribute", programs=2)
def _():
    c = Config()
    yield (lambda x, c: x**c.power), (X, c)
    with changed(Config, "power", 3):
        yield (X, c)


@kind("an instance attribute that hides a class attribute")
def _():
    c = Config()
    yield (lambda x, c: x**c.power), (X, c)
    c.power = 3
    yield (X, c)


@kind("a property that hides an attribute")
def _():
    c = Config()
    yield configured, (X, c)
    with changed(Config, "eps", property(lambda self: Y)):
        yield (X, c)


@kind("a method of the class")
def _():
    c = Config()
    yield (lambda x, c: c.apply(x)), (X, c)
    with changed(Config, "apply", lambda self, x: x * 100):
        yield (X, c)


@kind("a method on the instance")
def _():
    c = Config()
    yield (lambda x, c: c.apply(x)), (X, c)
    c.apply = lambda x: x * 100
    yield (X, c)


@kind("a static method")
def _():
    c = Config()
    yield (lambda x, c: c.twice(x)), (X, c)
    with changed(Config, "twice", staticmethod(lambda x: x * 100)):
        yield (X, c)


@kind("a class method")
def _():
    yield (lambda x: Config.raised(x)), (X,)
    with changed(Config, "raised", classmethod(lambda cls, x: x * 100)):
        yield (X,)


@kind("a method added to the class that hides its base's", programs=3)
def _():
    class Middle(Derived):
        pass

    m = Middle()
    yield (lambda x, m: m.run(x)), (X, m)
    with changed(Middle, "run", lambda self, x: x * 100):
        yield (X, m)
    with changed(Derived, "run", lambda self, x: x * 7):
        yield (X, m)


@kind("a method added to the base", programs=2)
def _():
    d = Derived()
    yield (lambda x, d: d.extra(x) if hasattr(d, "extra") else x), (X, d)
    with changed(Base, "extra", lambda self, x: x * 100):
        yield (X, d)


@kind("super()'s method replaced")
def _():
    class Child(Derived):
        def run(self, x):
            return super().run(x) + 1

    c = Child()
    yield (lambda x, c: c.run(x)), (X, c)
    with changed(Derived, "run", lambda self, x: x * 100):
        yield (X, c)


@kind("__bases__ assigned")
def _():
    class Left(Base):
        def act(self, x):
            return x + 1

    class Right(Base):
        def act(self, x):
            return x - 1

    class Child(Left):
        pass

    c = Child()
    yield (lambda x, c: c.act(x)), (X, c)
    Child.__bases__ = (Right,)
    yield (X, c)


@kind("__getattr__", programs=2)
def _():
    lazy = Lazy()
    yield (lambda x, lazy: x * lazy.scale), (X, lazy)
    with changed(Lazy, "__getattr__", lambda self, name: 50.0):
        yield (X, lazy)


@kind("__getattr__ added", programs=2)
def _():
    c = Config()
    yield (lambda x, c: x * getattr(c, "scale", 2.0)), (X, c)
    Config.__getattr__ = lambda self, name: 50
    try:
        yield (X, c)
    finally:
        del Config.__getattr__


class Mapped:
    """Looks attributes up in Python, as configurations of libraries do."""

    def __init__(self):
        self.size = 2.0

    def __getattribute__(self, name):
        return object.__getattribute__(self, MAPPED.get(name, name))


MAPPED = {"width": "size"}


def lacking(x, c):
    return x * 2 if not hasattr(c, "scale") else x * getattr(c, "scale", 1.0)


@kind("an attribute appears, looked up in Python", programs=2)
def _():
    c = Mapped()
    yield lacking, (X, c)
    c.scale = 3.0
    yield (X, c)


@kind("an attribute appears on a class, looked up in Python", programs=2)
def _():
    c = Mapped()
    yield lacking, (X, c)
    with changed(Mapped, "scale", 3.0):
        yield (X, c)
    yield (X, c)


@kind("a name is mapped to another attribute", programs=2)
def _():
    c = Mapped()
    yield lacking, (X, c)
    with item(MAPPED, "scale", "size"):
        yield (X, c)


@kind("__getattr__ added where attributes are looked up in Python", programs=2)
def _():
    c = Mapped()
    yield lacking, (X, c)
    Mapped.__getattr__ = lambda self, name: 50.0
    try:
        yield (X, c)
    finally:
        del Mapped.__getattr__


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return lacking(self.linear(x), self)


@kind("a module gets an attribute that it lacked", programs=2)
def _():
    module = Plain().requires_grad_(False)
    yield module, (X,)
    module.scale = 3.0
    yield (X,)


@kind("a module gets a buffer that it lacked", programs=2)
def _():
    module = Plain().requires_grad_(False)
    yield module, (X,)
    module.register_buffer("scale", torch.tensor(3.0))
    yield (X,)


@kind("the class of a module gets an attribute that it lacked", programs=2)
def _():
    yield Plain().requires_grad_(False), (X,)
    with changed(Plain, "scale", 3.0):
        yield (X,)


@kind("the class of a module gets a __getattr__", programs=2)
def _():
    yield Plain().requires_grad_(False), (X,)
    usual = torch.nn.Module.__getattr__
    Plain.__getattr__ = lambda self, name: 50.0 if name == "scale" else usual(self, name)
    try:
        yield (X,)
    finally:
        del Plain.__getattr__


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.on = 2.0, True

    def forward(self, x):
        return x * self.scale if self.on else x


@kind("a property hides an attribute of a module")
def _():
    yield Scaled(), (X,)
    with changed(Scaled, "on", property(lambda self: False)):
        yield (X,)


@kind("a property hides a number of a module")
def _():
    yield Scaled(), (X,)
    with changed(Scaled, "scale", property(lambda self: 5.0)):
        yield (X,)


@kind("a property hides the hooks of a module")
def _():
    yield Scaled(), (X,)
    with changed(Scaled, "_forward_hooks", property(lambda self: {0: lambda m, x, y: y + 1})):
        yield (X,)


@kind("an attribute of a module is deleted and put back", programs=1, warns="")
def _():
    module = Scaled()
    yield module, (X,)
    del module.on
    module.on = True
    yield (X,)
    module.scale = 4.0
    yield (X,)


@kind("an attribute that the class has as well is deleted", programs=3)
def _():
    module = Scaled()
    yield module, (X,)
    with changed(Scaled, "on", False):
        yield (X,)
        del module.on
        yield (X,)
        module.on = True


@kind("another dict of a module", programs=1)
def _():
    module = Scaled()
    yield module, (X,)
    module.__dict__ = {**module.__dict__, "scale": 7.0}
    yield (X,)


@kind("a module gets a lookup of its own")
def _():
    yield Scaled(), (X,)
    usual = torch.nn.Module.__getattribute__
    found = lambda self, name: 9.0 if name == "scale" else usual(self, name)  # noqa: E731
    with changed(Scaled, "__getattribute__", found):
        yield (X,)


@kind("two parameters become one", programs=1)
def _():
    both = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
    both.requires_grad_(False)
    yield (lambda x: both[1](both[0](x))), (X,)
    both[1].weight = both[0].weight
    yield (X,)
    both[1].weight = torch.nn.Parameter(torch.ones(3, 3), requires_grad=False)
    yield (X,)


@kind("the strides of one of many parameters", programs=2)
def _():
    linear = torch.nn.Linear(3, 3).requires_grad_(False)
    yield (lambda x: linear(x)), (X,)
    linear.weight.data = linear.weight.data.t()
    yield (X,)
    linear.weight.data = linear.weight.data.contiguous() * 2
    yield (X,)


@kind("the size of all parameters", programs=1)
def _():
    linear = torch.nn.Linear(3, 3).requires_grad_(False)
    yield (lambda x: linear(x)), (X,)
    linear.weight.data, linear.bias.data = torch.ones(5, 3), torch.ones(5)
    yield (X,)
    linear.weight.data, linear.bias.data = torch.ones(4, 3), torch.ones(4)
    yield (X,)


@kind("one of many parameters wants a gradient", programs=1)
def _():
    linear = torch.nn.Linear(3, 3).requires_grad_(False)
    yield (lambda x: linear(x)), (X,)
    linear.bias.requires_grad_()
    yield (X,)
    linear.bias.requires_grad_(False)
    yield (X,)


@kind("__getattribute__ added")
def _():
    class Odd:
        scale = 2.0

    odd = Odd()
    yield (lambda x, o: x * o.scale), (X, odd)
    usual = object.__getattribute__
    Odd.__getattribute__ = lambda self, name: 50.0 if name == "scale" else usual(self, name)
    yield (X, odd)


@kind("__call__ of an object")
def _():
    class Step:
        def __call__(self, x):
            return x + 1

    step = Step()
    yield (lambda x, step: step(x)), (X, step)
    with changed(Step, "__call__", lambda self, x: x * 100):
        yield (X, step)


@kind("a slot", programs=2)
def _():
    s = Slotted()
    s.scale = 2.0
    yield (lambda x, s: x * s.scale), (X, s)
    s.scale = 4.0
    yield (X, s)
    s.scale = Y
    yield (X, s)


@kind("a tensor in an attribute", programs=2)
def _():
    holder = Weights()
    yield (lambda x, h: x * h.w), (X, holder)
    holder.w = torch.tensor([7.0, 8.0, 9.0])
    yield (X, holder)
    holder.w = holder.w.double()
    yield (X, holder)


@kind("two attributes that become one object")
def _():
    holder = Weights()
    holder.v = WEIGHT.clone()

    def both(x, h):
        return (x * h.w + h.v, h.w is h.v)

    yield both, (X, holder)
    holder.v = holder.w
    yield (X, holder)


# --- containers ----------------------------------------------------------------------------------


@kind("an item of a list", programs=2)
def _():
    factors = [2.0, True]
    yield (lambda x, f: x * f[0] if f[1] else x), (X, factors)
    factors[0] = 3.0
    yield (X, factors)
    factors[1] = False
    yield (X, factors)


@kind("an item counted from the end", programs=2)
def _():
    factors = [2.0, 3.0]
    yield (lambda x, f: x * f[-1]), (X, factors)
    factors.append(4.0)
    yield (X, factors)


@kind("the length of a list")
def _():
    factors = [2.0, 3.0]

    def all_of(x, factors):
        for f in factors:
            x = x * f
        return x

    yield all_of, (X, factors)
    factors.append(4.0)
    yield (X, factors)


@kind("the truth of a list")
def _():
    yield (lambda x, f: x + 1 if f else x), (X, [1])
    yield (X, [])


@kind("an item of a dict", programs=2)
def _():
    options = {"scale": 2.0, "on": True}
    yield (lambda x, o: x * o["scale"] if o["on"] else x), (X, options)
    options["scale"] = 3.0
    yield (X, options)
    options["on"] = False
    yield (X, options)


@kind("a key added", programs=2)
def _():
    options = {"scale": 2.0}
    yield (lambda x, o: x * o.get("scale", 1.0) + o.get("bias", 1.0)), (X, options)
    options["bias"] = 5.0
    yield (X, options)


@kind("a key removed")
def _():
    options = {"scale": 2.0, "bias": 1.0}
    yield (lambda x, o: x + 1 if "bias" in o else x), (X, options)
    del options["bias"]
    yield (X, options)


@kind("the order of keys", programs=2)
def _():
    options = {"a": 2.0, "b": 3.0}

    def ordered(x, o):
        for value in o.values():
            x = x * 2 + value
        return x

    yield ordered, (X, options)
    options["a"] = options.pop("a")
    yield (X, options)


@kind("a tuple", programs=2)
def _():
    yield (lambda x, p: x * p[0] if p[1] else x), (X, (2.0, True))
    yield (X, (3.0, True))
    yield (X, (3.0, False))


@kind("a set")
def _():
    names = {"a"}
    yield (lambda x, names: x + 1 if "a" in names else x), (X, names)
    names.clear()
    yield (X, names)


@kind("a list that becomes a tuple")
def _():
    yield (lambda x, f: (x * f[0], isinstance(f, list))), (X, [2.0])
    yield (X, (2.0,))


@kind("a key that is True and becomes 1", programs=2)
def _():
    yield (lambda x, o: (x * next(iter(o)), list(o))), (X.long(), {True: 0})
    yield (X.long(), {1: 0})


@kind("an item that is True and becomes 1 in a set", programs=2)
def _():
    yield (lambda x, s: (x, sorted(s))), (X, {True})
    yield (X, {1})


# --- modules -------------------------------------------------------------------------------------


def modular(width=3):
    """A module, and a function that calls it."""
    module = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.BatchNorm1d(width)).eval()
    module.requires_grad_(False)
    return module, lambda x: module(x) * 2


@kind("a parameter replaced", programs=1)
def _():
    module, function = modular()
    yield function, (X,)
    module[0].weight = torch.nn.Parameter(torch.eye(3), requires_grad=False)
    yield (X,)


@kind("a buffer replaced", programs=1)
def _():
    module, function = modular()
    yield function, (X,)
    module[1].running_mean = torch.ones(3)
    yield (X,)


@kind("load_state_dict", programs=1)
def _():
    module, function = modular()
    yield function, (X,)
    module.load_state_dict({k: v + 1 for k, v in module.state_dict().items()})
    yield (X,)


@kind("a module converted to another dtype", programs=2)
def _():
    module, function = modular()
    yield function, (X,)
    module.double()
    yield (X.double(),)


@kind("a submodule replaced", programs=2)
def _():
    module, function = modular()
    yield function, (X,)
    module[0] = torch.nn.Identity()
    yield (X,)


@kind("a hook added", programs=2)
def _():
    module, function = modular()
    yield function, (X,)
    module[0].register_forward_hook(lambda module, args, output: output * 3)
    yield (X,)


@kind("a number of a module", programs=1)
def _():
    module, function = modular()
    yield function, (X,)
    module[1].eps = 0.5
    yield (X,)


@kind("a module's forward replaced on the instance", programs=2)
def _():
    module, function = modular()
    yield function, (X,)
    module[0].forward = lambda x: x * 5
    yield (X,)


@kind("a module's forward replaced on the class", programs=2)
def _():
    yield modular()[1], (X,)
    with changed(torch.nn.Linear, "forward", lambda self, x: x * 5):
        yield (X,)


@kind("an attribute of a class that hides a parameter", programs=2)
def _():
    class Own(torch.nn.Linear):
        pass

    module = Own(3, 3).requires_grad_(False)
    yield (lambda x: module(x)), (X,)
    with changed(Own, "weight", torch.eye(3)):
        yield (X,)


@kind("a value in a module's __dict__ that hides a parameter", programs=2)
def _():
    module, function = modular()
    yield function, (X,)
    vars(module[0])["weight"] = torch.zeros(3, 3)
    yield (X,)


@kind("truth that a class defines later", programs=2)
def _():
    class Flag:
        pass

    flag = Flag()
    yield (lambda x, flag: x + 1 if flag else x - 1), (X, flag)
    with changed(Flag, "__bool__", lambda self: False):
        yield (X, flag)


@kind("equality that a class defines later", programs=2)
def _():
    class Tag:
        pass

    one, two = Tag(), Tag()
    yield (lambda x, a, b: x + 1 if a == b else x - 1), (X, one, two)
    with changed(Tag, "__eq__", lambda self, other: True):
        yield (X, one, two)


# --- states of torch -----------------------------------------------------------------------------


@kind("grad mode, read", programs=2)
def _():
    yield (lambda x: x + 1 if torch.is_grad_enabled() else x - 1), (X,)
    with torch.no_grad():
        yield (X,)


@kind("grad mode, with an input that requires a gradient", programs=1)
def _():
    x = X.clone().requires_grad_()
    with torch.no_grad():
        yield plain, (x,)
    yield (x,)
    with torch.no_grad():
        yield (x,)


@kind("autocast", programs=1)
def _():
    yield (lambda x, y: x @ y.t()), (X, Y)
    with torch.autocast("cpu"):
        yield (X, Y)


@kind("the default dtype", programs=2)
def _():
    yield (lambda x: x / 2 + torch.ones(3)), (X.long(),)
    torch.set_default_dtype(torch.float64)
    try:
        yield (X.long(),)
    finally:
        torch.set_default_dtype(torch.float32)


@kind("the default device", programs=1)
def _():
    yield (lambda x: (x.sum(), torch.ones(3))), (X,)
    with torch.device("meta"):
        yield (X,)


@kind("inference mode", programs=1)
def _():
    yield plain, (X,)
    with torch.inference_mode():
        yield (X,)


@kind("an inference tensor", programs=1)
def _():
    yield plain, (X,)
    with torch.inference_mode():
        x = X + 1
    yield (x,)


@kind("a function mode", programs=1)
def _():
    class Doubling(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            return made * 2 if func is torch.exp else made

    yield (lambda x: torch.exp(x)), (X,)
    with Doubling():
        yield (X,)


@kind("deterministic algorithms", programs=1)
def _():
    yield plain, (X,)
    torch.use_deterministic_algorithms(True)
    try:
        yield (X,)
    finally:
        torch.use_deterministic_algorithms(False)


# --- the test ------------------------------------------------------------------------------------


def flat(value):
    if isinstance(value, dict):
        return [("dict", list(value))] + [leaf for part in value.values() for leaf in flat(part)]
    if isinstance(value, (list, tuple)):
        return [type(value)] + [leaf for part in value for leaf in flat(part)]
    return [value]


def assert_same(made, wanted):
    made, wanted = flat(made), flat(wanted)
    assert len(made) == len(wanted)
    for one, two in zip(made, wanted, strict=True):
        assert type(one) is type(two)
        if isinstance(one, torch.Tensor):
            assert one.dtype is two.dtype
            assert one.device == two.device
            assert one.shape == two.shape
            assert one.stride() == two.stride()
            assert one.requires_grad is two.requires_grad
            assert one.is_inference() is two.is_inference()
            if one.device.type != "meta":
                torch.testing.assert_close(one.detach(), two.detach(), equal_nan=True)
        else:
            assert one == two or (one != one and two != two)


def call(function, given):
    if len(given) == 2 and isinstance(given[1], dict) and isinstance(given[0], tuple):
        return function(*given[0], **given[1])
    return function(*given)


@pytest.mark.parametrize("row", KINDS, ids=lambda row: row.name)
def test_only_this_changes(row: Kind, monkeypatch):
    monkeypatch.setattr(outside, "_FEWEST", 1)  # all memories that large programs have
    with contextlib.closing(row.steps()) as steps, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", astjit.AstjitWarning)
        function, given = next(steps)
        compiled = astjit.compile(function)
        while given is not None:
            assert_same(call(compiled, given), call(function, given))
            programs = compiled.cache_info().programs
            assert programs >= 1, [str(w.message) for w in told]
            for _ in range(2):  # what guards keep from call to call is kept by now
                assert_same(call(compiled, given), call(function, given))
            assert compiled.cache_info().programs == programs
            given = next(steps, None)
    texts = [str(w.message) for w in told if issubclass(w.category, astjit.AstjitWarning)]
    ours = [text for text in texts if "kernels run through PyTorch" not in text]
    assert len(ours) == bool(row.warns), ours
    assert all(row.warns in text for text in ours)
    assert programs == row.programs, compiled.cache_info().reasons
