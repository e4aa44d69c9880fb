"""Sizes: integers, symbols, and expressions of both in a normal form.

    Dim = int | Sym | Expr
    add(mul(rows, cols), 2)  prints  rows*cols + 2;  equal expressions are equal objects

A symbol is a size of an input tensor (decision D1); it is never 1, because a size of 1 is the
literal 1, and it may be 0. Sums and products are kept as polynomials, so that `a*(b + 1)` and
`a*b + a` are the same; floor division, remainder, minimum and maximum are atoms of them unless
they can be worked out.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd


@dataclass(frozen=True, slots=True)
class Sym:
    """A named size. Two symbols of one name are the same; the hint is an example, not identity."""

    name: str
    hint: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression in normal form; made only by the functions of this module.

    Its hash, its text and its place among other terms are worked out once: sorting terms and
    looking up facts asks for them again and again.
    """

    op: str  # add, mul, floordiv, mod, min, max
    args: tuple["Dim", ...]
    _hash: int = field(init=False, compare=False, repr=False)
    _text: str = field(default="", init=False, compare=False, repr=False)
    _rank: str = field(default="", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type["Expr"], tuple[str, tuple["Dim", ...]]]:
        return Expr, (self.op, self.args)  # hashes of texts differ from process to process

    def __str__(self) -> str:
        if not self._text:
            object.__setattr__(self, "_text", text(self))
        return self._text

    @property
    def rank(self) -> str:
        """A text by which terms are sorted: the structure, without hints."""
        if not self._rank:
            inner = ", ".join(map(_rank, self.args))
            object.__setattr__(self, "_rank", f"Expr({self.op!r}, ({inner}))")
        return self._rank


Dim = int | Sym | Expr
_Poly = dict[tuple[Dim, ...], int]  # sorted factors -> coefficient


def _rank(dim: Dim) -> str:
    if isinstance(dim, Sym):
        return f"Sym({dim.name!r})"
    return dim.rank if isinstance(dim, Expr) else repr(dim)


def terms_of(dim: Dim) -> _Poly:
    """A size as a polynomial: the factors of each term, and how often it is taken."""
    if isinstance(dim, int):
        return {(): dim} if dim else {}
    if isinstance(dim, Expr):
        if dim.op == "add":
            return dict(map(_parts, dim.args))
        if dim.op == "mul":
            return dict((_parts(dim),))
    return {(dim,): 1}


def _parts(term: Dim) -> tuple[tuple[Dim, ...], int]:
    """The factors and the number of something that is no sum."""
    if isinstance(term, int):
        return (), term
    if isinstance(term, Sym) or term.op != "mul":
        return (term,), 1
    first = term.args[0]
    return (term.args[1:], first) if isinstance(first, int) else (term.args, 1)


def _dim(poly: _Poly) -> Dim:
    if not poly:
        return 0
    terms = list(poly.items())
    if len(terms) == 1:
        return _term(*terms[0])
    terms.sort(key=lambda kv: (-len(kv[0]), ", ".join(map(_rank, kv[0]))))
    return Expr("add", tuple(_term(factors, scale) for factors, scale in terms))


def _term(factors: tuple[Dim, ...], scale: int) -> Dim:
    parts: tuple[Dim, ...] = factors if scale == 1 and factors else (scale, *factors)
    return parts[0] if len(parts) == 1 else Expr("mul", parts)


def add(*dims: Dim) -> Dim:
    """The sum."""
    some = [dim for dim in dims if not isinstance(dim, int) or dim]
    if len(some) == 1:
        return some[0]
    total: _Poly = {}
    for dim in some:
        for factors, scale in terms_of(dim).items():
            total[factors] = total.get(factors, 0) + scale
    return _dim({k: v for k, v in total.items() if v})


def mul(*dims: Dim) -> Dim:
    """The product; of nothing, 1."""
    scale = 1
    some: list[Dim] = []
    for dim in dims:
        if isinstance(dim, int):
            scale *= dim
        else:
            some.append(dim)
    if not some or not scale:
        return scale
    if len(some) == 1 and scale == 1:
        return some[0]
    if not any(isinstance(dim, Expr) and dim.op == "add" for dim in some):
        return _monomial(scale, some)
    total: _Poly = {(): scale}
    for dim in some:
        product: _Poly = {}
        for left, a in total.items():
            for right, b in terms_of(dim).items():
                factors = tuple(sorted((*left, *right), key=str))
                product[factors] = product.get(factors, 0) + a * b
        total = {k: v for k, v in product.items() if v}
    return _dim(total)


def _monomial(scale: int, dims: Iterable[Dim]) -> Dim:
    """The product of a number and dims that are no sums."""
    factors: list[Dim] = []
    for dim in dims:
        more, times = _parts(dim)
        factors += more
        scale *= times
    factors.sort(key=str)
    return _term(tuple(factors), scale)


def sub(a: Dim, b: Dim) -> Dim:
    """The difference."""
    return 0 if a == b else add(a, mul(-1, b))


def floordiv(a: Dim, b: Dim) -> Dim:
    """Python's a // b.

    Raises:
        ZeroDivisionError: if b is the literal 0.
    """
    if isinstance(b, int) and b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 1:
        return a
    exact = _divide(a, b)
    return exact if exact is not None else Expr("floordiv", (a, b))


def mod(a: Dim, b: Dim) -> Dim:
    """Python's a % b.

    Raises:
        ZeroDivisionError: if b is the literal 0.
    """
    if isinstance(b, int) and b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if isinstance(b, int) and _divide(a, b) is not None:
        return 0
    return Expr("mod", (a, b))


def _divide(a: Dim, b: Dim) -> Dim | None:
    """a / b where every term of a contains the one term b and b cannot be 0, else None."""
    divisor = terms_of(b)
    if len(divisor) != 1:
        return None
    ((factors, scale),) = divisor.items()
    if factors:  # a symbol may be 0, where a // b raises: keep the division
        return None
    quotient: _Poly = {}
    for term, coefficient in terms_of(a).items():
        if coefficient % scale:
            return None
        quotient[term] = coefficient // scale
    return _dim(quotient)


def quotient(a: Dim, b: Dim) -> Dim | None:
    """a / b where b is known not to be 0: None when the literals do not divide.

    A division that only the values of symbols can decide stays an expression `a // b`.
    """
    if a == b:
        return 1
    divisor = terms_of(b)
    if len(divisor) != 1:
        return floordiv(a, b)
    ((factors, scale),) = divisor.items()
    result: _Poly = {}
    for term, coefficient in terms_of(a).items():
        rest = list(term)
        if coefficient % scale or any(term.count(f) < factors.count(f) for f in factors):
            return None if isinstance(a, int) and isinstance(b, int) else floordiv(a, b)
        for factor in factors:
            rest.remove(factor)
        result[tuple(rest)] = coefficient // scale
    return _dim(result)


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller."""
    return _extreme("min", min, a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger."""
    return _extreme("max", max, a, b)


def _extreme(name: str, pick: Callable[[int, int], int], a: Dim, b: Dim) -> Dim:
    difference = sub(a, b)
    if isinstance(difference, int):
        return a if pick(difference, 0) == difference else b
    if name == "max" and 0 in (a, b) and isinstance(a if b == 0 else b, Sym):
        return a if b == 0 else b  # a symbol is never negative
    return Expr(name, (a, b))


_EVALUATE: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


def evaluate(dim: Dim, sizes: Mapping[str, int]) -> int:
    """The number that `dim` is when its symbols have these values.

    Raises:
        KeyError: if a symbol has no value.
    """
    match dim:
        case int():
            return dim
        case Sym():
            return sizes[dim.name]
    numbers = [evaluate(arg, sizes) for arg in dim.args]
    if dim.op == "add":
        return sum(numbers)
    if dim.op == "mul":
        result = 1
        for number in numbers:
            result *= number
        return result
    return _EVALUATE[dim.op](*numbers)


def symbols(dim: Dim) -> tuple[Sym, ...]:
    """Every symbol in `dim`, each once, in order of appearance."""
    match dim:
        case int():
            return ()
        case Sym():
            return (dim,)
    return tuple(dict.fromkeys(s for arg in dim.args for s in symbols(arg)))


def hint(dim: Dim) -> int:
    """The value of `dim` in the call that is being captured.

    Raises:
        KeyError: if a symbol has no hint.
    """
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Sym) and dim.hint is not None:
        return dim.hint
    return evaluate(dim, {s.name: s.hint for s in symbols(dim) if s.hint is not None})


def substitute(dim: Dim, values: Mapping[str, Dim], nonzero: Container[Dim] = ()) -> Dim:
    """`dim` with symbols replaced by name; divisions by what is `nonzero` are worked out."""
    match dim:
        case int():
            return dim
        case Sym():
            return values.get(dim.name, dim)
    args = [substitute(arg, values, nonzero) for arg in dim.args]
    if dim.op == "floordiv" and args[1] in nonzero:
        exact = quotient(args[0], args[1])
        return floordiv(args[0], args[1]) if exact is None else exact
    return _MAKE[dim.op](*args)


_MAKE: dict[str, Callable[..., Dim]] = {
    "add": add,
    "mul": mul,
    "floordiv": floordiv,
    "mod": mod,
    "min": minimum,
    "max": maximum,
}


_INFIX = {"floordiv": "//", "mod": "%"}


def text(dim: Dim, name: Callable[[Sym], str] = str) -> str:
    """Python text of `dim`; `name` spells a symbol."""
    match dim:
        case int():
            return str(dim)
        case Sym():
            return name(dim)
        case Expr("add", args):
            return " + ".join(text(a, name) for a in args).replace("+ -", "- ")
        case Expr("mul", args):
            return "*".join(_atom(a, name) for a in args)
        case Expr("min" | "max" as op, args):
            return f"{op}({', '.join(text(a, name) for a in args)})"
    return f"{_atom(dim.args[0], name)} {_INFIX[dim.op]} {_atom(dim.args[1], name)}"


def _atom(dim: Dim, name: Callable[[Sym], str]) -> str:
    inner = text(dim, name)
    return inner if isinstance(dim, int | Sym) or dim.op in ("min", "max") else f"({inner})"


def multiple(a: Dim, b: Dim) -> bool:
    """Whether the term a is plainly the term b times something."""
    if isinstance(a, int) and isinstance(b, int):
        return b != 0 and a % b == 0
    left, right = terms_of(a), terms_of(b)
    if len(left) != 1 or len(right) != 1:
        return False
    ((factors, scale),), ((wanted, divisor),) = left.items(), right.items()
    rest = list(factors)
    for factor in wanted:
        if factor not in rest:
            return False
        rest.remove(factor)
    return scale % divisor == 0


def cancelled(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Two products without the factors that they share, where neither is a sum.

    The products are equal where these are, and only there unless a shared factor is 0.
    """
    left, right = terms_of(a), terms_of(b)
    if len(left) != 1 or len(right) != 1:
        return a, b
    ((factors, one),), ((others, two),) = left.items(), right.items()
    rest, mine = list(others), []
    for factor in factors:
        if factor in rest:
            rest.remove(factor)
        else:
            mine.append(factor)
    scale = gcd(one, two)
    return _term(tuple(mine), one // scale), _term(tuple(rest), two // scale)


def product(dims: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    return mul(*dims)
