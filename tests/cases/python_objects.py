# ruff: noqa: RUF012, RUF059, UP031, UP042 -- every way to write Python is a row, the unusual ones as well
"""Objects that Python code describes: classes, records, enums and operators, one function a row."""

import abc
import collections
import copy
import dataclasses
import enum
import functools
import operator
import typing
from dataclasses import dataclass, field

import torch

# --- classes with special methods ---


class Pair:
    """Every operator in Python."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        if isinstance(other, Pair):
            return Pair(self.a + other.a, self.b + other.b)
        return Pair(self.a + other, self.b + other)

    def __radd__(self, other):
        return Pair(other + self.a, other + self.b)

    def __iadd__(self, other):
        self.a = self.a + other
        return self

    def __mul__(self, k):
        if isinstance(k, str):
            return NotImplemented
        return Pair(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Pair(-self.a, -self.b)

    def __abs__(self):
        return Pair(abs(self.a), abs(self.b))

    def __invert__(self):
        return Pair(self.b, self.a)

    def __matmul__(self, other):
        return self.a * other.a + self.b * other.b

    def __getitem__(self, key):
        if isinstance(key, slice):
            return (self.a, self.b)[key]
        return (self.a, self.b)[key]

    def __setitem__(self, key, value):
        if key == 0:
            self.a = value
        else:
            self.b = value

    def __delitem__(self, key):
        self[key] = 0

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.a
        yield self.b

    def __reversed__(self):
        return iter((self.b, self.a))

    def __contains__(self, item):
        return item is self.a or item is self.b

    def __bool__(self):
        return self.a is not None

    def __call__(self, t):
        return t * self.a

    def __eq__(self, other):
        return isinstance(other, Pair) and self.a == other.a and self.b == other.b

    def __lt__(self, other):
        return self.a < other.a

    def __hash__(self):
        return hash((self.a, self.b))

    def __str__(self):
        return f"({self.a}, {self.b})"

    def __repr__(self):
        return f"Pair{self}"

    def __format__(self, spec):
        return f"{self.a:{spec}}|{self.b:{spec}}"

    def __index__(self):
        return self.a

    def __int__(self):
        return self.a + 100

    def __float__(self):
        return float(self.a) + 0.5


class Counting:
    def __init__(self, last):
        self.now, self.last = 0, last

    def __iter__(self):
        return self

    def __next__(self):
        if self.now >= self.last:
            raise StopIteration
        self.now += 1
        return self.now


class ByIndex:
    def __getitem__(self, index):
        if index >= 3:
            raise IndexError(index)
        return index * 10


OUTER = Pair(2.0, 3.0)
LAYERS = ByIndex()


def operators(x):
    p = Pair(x, 1)
    q = p + Pair(2, 3) + 1
    q = 1 + q * 2
    q = 3 * q
    return [*q], [*-q], [*abs(q)], [*~q], p @ q


def operator_in_place(x):
    p = q = Pair(x, 1)
    p += 2
    return p is q, p.a


def operator_not_implemented(x):
    try:
        Pair(x, 1) * "a"
    except TypeError as error:
        return x, str(error)


def reflected_operator_of_subclass(x):
    class Base:
        def __add__(self, other):
            return "base"

    class Derived(Base):
        def __radd__(self, other):
            return "derived"

    return x, Base() + Derived(), Derived() + Base()


def items_and_length(x):
    p = Pair(x, x + 1)
    p[0] = x * 2
    first = p[0]
    del p[1]
    return first, p[1], p[-1], p[:], len(p)


def iteration(x):
    p = Pair(x, 2)
    a, b = p
    return a * b, [*p], sum(Counting(4)), list(Counting(2)), tuple(ByIndex())


def reversed_object(x):
    return [*reversed(Pair(x, 2))]


def containing(x):
    p = Pair(x, 2)
    return x in p, None in p, 3 in Counting(4), 20 in ByIndex(), 7 not in ByIndex()


def truth(x):
    full, empty = Pair(1, 2), Pair(None, 2)
    return (x if full else -x), not empty, bool(empty), (empty or 3), 1 if full and full else 2


def calling(x):
    return Pair(3, 4)(x), callable(Pair(1, 2)), [*map(Pair(2, 1), [x])]


def equality_and_hash(x):
    one, same, other = Pair(1, 2), Pair(1, 2), Pair(2, 2)
    table = {one: "a"}
    return (
        x,
        one == same,
        one != other,
        table[same],
        other in table,
        len({one, same, other}),
        [one, other].index(Pair(2, 2)),
        one in [other, same],
    )


def ordering(x):
    pairs = [Pair(3, 0), Pair(1, 0), Pair(2, 0)]
    return (
        x,
        [p.a for p in sorted(pairs)],
        min(pairs).a,
        max(pairs).a,
        pairs[0] > pairs[1],
        sorted(pairs, key=lambda p: -p.a)[0].a,
    )


def text_of_objects(x):
    p = Pair(1, 2)
    return x, str(p), repr(p), f"{p}", f"{p!r}", f"{p:03d}", "%s %r" % (p, p), f"{p:d}"


def conversions(x):
    p = Pair(1, 2)
    return x, int(p), float(p), [10, 20][p], operator.index(p), hash(p) == hash((1, 2))


def outside_object_with_operators(x):
    q = OUTER * x + 1
    a, b = OUTER
    return [*q], a * x, OUTER[1] * x, len(OUTER), OUTER(x), -OUTER @ q


def outside_sequence_by_index(x):
    for by in LAYERS:
        x = x + by
    return x, LAYERS[1]


@functools.total_ordering
class Version:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n


def total_ordering(x):
    return x, Version(1) <= Version(2), Version(3) >= Version(2), Version(1) > Version(1)


# --- how classes are made ---


class Base:
    factor = 2

    def __init__(self, by=1):
        self.by = by

    def apply(self, t):
        return t * self.by * self.factor

    @classmethod
    def of(cls, by):
        return cls(by)

    @staticmethod
    def shift(t):
        return t + 1

    @property
    def doubled(self):
        return self.by * 2


class Derived(Base):
    factor = 3

    def __init__(self, by=1, *, extra=0):
        super().__init__(by)
        self.extra = extra

    def apply(self, t):
        return super().apply(t) + self.extra

    @Base.doubled.getter
    def doubled(self):
        return super().doubled + 1


class Single:
    _made = None

    def __new__(cls, value):
        self = super().__new__(cls)
        self.value = value * 2
        return self

    def __init__(self, value):
        self.given = value


class Meta(type):
    """Adds an attribute when the class is made, nothing when objects are."""

    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, {**space, "tag": name.lower()})

    def sizes(cls):
        return cls.width


class Tagged(metaclass=Meta):
    width = 4

    def __init__(self, v):
        self.v = v


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self, t): ...

    def twice(self, t):
        return self.area(t) * 2


class Square(Shape):
    def area(self, t):
        return t * t


class HasArea(typing.Protocol):
    def area(self, t): ...


@typing.runtime_checkable
class Sized(typing.Protocol):
    def __len__(self): ...


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b=2):
        self.a, self.b = a, b


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, cls=None):
        return self if owner is None else getattr(owner, self.name) * 2

    def __set__(self, owner, value):
        setattr(owner, self.name, value)


class Described:
    v = Descriptor()

    def __init__(self, v):
        self.v = v


class Lazy:
    def __init__(self, by):
        self.by = by

    @functools.cached_property
    def table(self):
        return [self.by, self.by * 2]

    def __getattr__(self, name):
        if name.startswith("by_"):
            return self.by * int(name[3:])
        raise AttributeError(name)


class Settable:
    def __init__(self, v):
        self.__dict__["v"] = v
        self.log = 1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1)

    @property
    def w(self):
        return self.v

    @w.setter
    def w(self, value):
        self.v = value


class Mix(dict):
    def total(self):
        return sum(self.values())


class Stack(list):
    def top(self):
        return self[-1]

    def push(self, item):
        self.append(item)
        return self


class Meters(float):
    def double(self):
        return Meters(self * 2)


class Register:
    known = {}

    def __init_subclass__(cls, key="", **kwargs):
        super().__init_subclass__(**kwargs)
        cls.key = key


class Registered(Register, key="r"):
    pass


class Generic(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, v):
        self.v = v


def inheritance_and_super(x):
    d = Derived(2, extra=1)
    return d.apply(x), Base(3).apply(x), d.doubled, Derived.of(4).by, Base.shift(x), d.shift(x)


def new_and_init(x):
    s = Single(3)
    return x * s.value + s.given


def metaclass(x):
    return x * Tagged(3).v + Tagged.width, Tagged.tag, Tagged.sizes()


def abstract_class(x):
    try:
        Shape()
    except TypeError as error:
        return Square().twice(x), type(error).__name__, isinstance(Square(), Shape)


def protocol(x):
    shape: HasArea = Square()
    return shape.area(x), isinstance(Pair(1, 2), Sized), isinstance(3, Sized)


def slots(x):
    s = Slotted(x)
    s.b += 1
    try:
        s.c = 1
    except AttributeError:
        return s.a * s.b, hasattr(s, "c")


def descriptors(x):
    return Described(x).v, Described(3).v


def cached_property(x):
    lazy = Lazy(3)
    return x * lazy.table[1], lazy.table is lazy.table, lazy.by_4, getattr(lazy, "no", 5)


def setattr_and_property_setter(x):
    s = Settable(1)
    s.w = 5
    s.u = 7
    return x * s.v + s.log, s.u, sorted(vars(s))


def subclasses_of_builtins(x):
    m = Mix(a=x, b=1)
    m["c"] = 2
    s = Stack([x])
    return m.total(), sorted(m), s.push(3).top(), len(s), Meters(2.0).double() + 1


def init_subclass(x):
    return x, Registered().key, Registered.key


def generic_class(x):
    return Generic[int](x).v, Generic(3).v


def class_defined_inside(x):
    class Layer:
        scale = 2

        def __init__(self, by):
            self.by = by

        def __call__(self, t):
            return t * self.by * self.scale

        def __eq__(self, other):
            return self.by == other.by

        @property
        def half(self):
            return self.by / 2

        @classmethod
        def of(cls, by):
            return cls(by + 1)

    class Wide(Layer):
        scale = 3

        def __call__(self, t):
            return super().__call__(t) + 1

    return Layer.of(1)(x), Wide(1.0)(x), Layer(1).half, Layer(1) == Wide(1)


def private_names(x):
    class Safe:
        def __init__(self):
            self.__v = 3

        def get(self):
            return self.__v

    return x * Safe().get()


# --- records ---


@dataclass
class Config:
    width: int = 4
    names: list = field(default_factory=list)
    scale: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    a: object
    b: int = 2


@dataclass
class Post:
    a: int
    b: dataclasses.InitVar[int] = 3
    c: int = field(init=False)
    d: float = field(default=1.0, repr=False, compare=False)

    def __post_init__(self, b):
        self.c = self.a + b


@dataclass
class PostChild(Post):
    e: int = 7

    def __post_init__(self, b):
        super().__post_init__(b)
        self.e += 1


@dataclass(order=True, unsafe_hash=True)
class Ordered:
    rank: int
    name: str = "n"


@dataclass(frozen=True)
class FrozenPost:
    a: int
    b: int = 0

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 2)


Named = collections.namedtuple("Named", ["a", "b"], defaults=[5])


class Row(typing.NamedTuple):
    left: object
    right: int = 2

    def total(self):
        return self.left + self.right

    @property
    def first(self):
        return self[0]

    @classmethod
    def zero(cls):
        return cls(0, 0)


class Options(typing.TypedDict, total=False):
    by: int


def dataclass_fields(x):
    c = Config(names=["a"])
    c.names.append("b")
    c.width += 1
    return x * c.width * c.scale, c.names, Config().names, c == Config(5, ["a", "b"])


def dataclass_frozen_slots(x):
    f = Frozen(a=x)
    g = dataclasses.replace(f, b=5)
    try:
        f.b = 1
    except dataclasses.FrozenInstanceError as error:
        return f.a * f.b, g.b, g.a is f.a, str(error)


def dataclass_post_init(x):
    return x * Post(1).c, Post(1, 5).c, PostChild(2).e, PostChild(2, e=3).c, FrozenPost(4).b


def dataclass_functions(x):
    c = Config(width=2)
    return (
        x,
        dataclasses.asdict(c),
        dataclasses.astuple(c),
        [f.name for f in dataclasses.fields(c)],
        dataclasses.is_dataclass(c),
        dataclasses.replace(c, width=7).width,
    )


def dataclass_order_hash_repr(x):
    a, b = Ordered(1), Ordered(2)
    return x, a < b, sorted([b, a])[0].rank, len({a, Ordered(1)}), repr(a), a == Ordered(1)


def dataclass_defined_inside(x):
    @dataclass
    class Step:
        t: object
        k: int = 2
        log: list = field(default_factory=list)

        def run(self):
            self.log.append(self.k)
            return self.t * self.k

    s = Step(x)
    return s.run(), s.log


def dataclass_match(x):
    match Ordered(3, "m"):
        case Ordered(rank=1):
            return x
        case Ordered(rank, "m"):
            return x * rank


def namedtuples(x):
    n = Named(x)
    a, b = n
    return a * b, n._replace(b=1).b, n._asdict()["b"], Named._fields, n[1], Named._make([1, 2]).a


def named_tuple_methods(x):
    r = Row(x)
    return r.total(), r.first, Row.zero().right, r == (r.left, 2), len(r)


def returned_namedtuple(x):
    return Named(x, 1), Row(x * 2)


def typed_dict(x):
    o: Options = Options(by=3)
    return x * typing.cast(int, o["by"])


class Color(enum.Enum):
    RED = 1
    GREEN = "g"

    @property
    def low(self):
        return self.name.lower()

    def shade(self, t):
        return t * 2 if self is Color.RED else t

    @classmethod
    def best(cls):
        return cls.GREEN


class Level(enum.IntEnum):
    LOW = enum.auto()
    HIGH = enum.auto()


class Bits(enum.Flag):
    A = enum.auto()
    B = enum.auto()
    AB = A | B


class Word(str, enum.Enum):
    ADD = "add"
    SUB = "sub"


def enums(x):
    return (
        Color.RED.shade(x),
        Color.GREEN.low,
        Color("g").name,
        Color["RED"].value,
        Color.best() is Color.GREEN,
        [c.name for c in Color],
        len(Color),
        Color.RED in Color,
        isinstance(Color.RED, Color),
        Color.RED == Color.GREEN,
    )


def int_enums_and_flags(x):
    return (
        x * Level.HIGH,
        Level.LOW < Level.HIGH,
        Level(2).name,
        bool(Bits.A & Bits.B),
        Bits.A in Bits.AB,
        (Bits.A | Bits.B) is Bits.AB,
        (~Bits.A).name,
    )


def string_enums(x, word):
    table = {Word.ADD: 1, "sub": 2}
    return x, Word("add") == "add", table["add"], table[Word.SUB], Word.ADD.upper()


def enum_as_key_and_match(x):
    found = {Color.RED: x, Color.GREEN: -x}
    match Color.GREEN:
        case Color.RED:
            return x
        case Color.GREEN:
            return found[Color.GREEN]


# --- copies ---


def copies(x):
    inner = [1, 2]
    table = {"a": inner, "t": x}
    shallow, deep = copy.copy(table), copy.deepcopy({"a": inner})
    inner.append(3)
    return shallow["a"], deep["a"], shallow["t"] is x, copy.copy((1, 2)), inner.copy()


def copy_of_object(x):
    p = Base(3)
    q = copy.copy(p)
    q.by = 4
    return x * p.by + q.by, type(q) is Base


def type_questions(x):
    return (
        isinstance(x, torch.Tensor),
        issubclass(Derived, Base),
        type(x) is torch.Tensor,
        type(Derived()).__name__,
        hasattr(x, "shape"),
        hasattr(Base, "nothing"),
        Base.factor * x,
        callable(Base),
        isinstance(3, (str, int)),
        isinstance(True, int),
        Base.__mro__[0] is Base,
        isinstance(None, type(None)),
        isinstance([], collections.abc.Sequence),
        isinstance({}, collections.abc.Mapping),
    )
