"""What to write instead of a call that the element language does not have.

math.lgamma(x)      torch.lgamma(tensor) before or after this function
math.cbrt(x)        math.copysign(abs(x) ** (1 / 3), x)

Every answer is text that the language has, or says what has to stay outside.
"""

import builtins
import math
from collections.abc import Callable

import torch

from astjit.frontend import torch_api

_OUTSIDE = "outside this function, on whole tensors"
_LOOP = "a loop: see the examples of docs/elements.md"

# By function of math or of Python.
_MATH: dict[str, str] = {
    "cbrt": "math.copysign(abs(x) ** (1 / 3), x)",
    "comb": f"a product in {_LOOP}",
    "dist": "math.hypot(a - c, b - d)",
    "factorial": f"a product in {_LOOP}",
    "fma": "x * y + z, which rounds twice",
    "frexp": "math.floor(math.log2(abs(x))) + 1 for the exponent e, x / 2.0**e for the rest",
    "fsum": "sum(...)",
    "gamma": f"torch.lgamma(x).exp() {_OUTSIDE}",
    "gcd": "a loop: `while b: a, b = b, a % b`",
    "isclose": "abs(a - b) <= 1e-9 * max(abs(a), abs(b))",
    "isqrt": "int(math.sqrt(n)), for n below 2**52",
    "lcm": "a * b // g, with g from a loop: `while b: a, b = b, a % b`",
    "ldexp": "x * 2.0**i",
    "lgamma": f"torch.lgamma(x) {_OUTSIDE}",
    "modf": "x - math.trunc(x) and math.trunc(x)",
    "perm": f"a product in {_LOOP}",
    "remainder": "x - round(x / y) * y",
    "sumprod": "sum([a * b for a, b in zip(p, q)])",
    "ulp": "math.nextafter(abs(x), math.inf) - abs(x)",
}
_PYTHON: dict[str, str] = {
    "bin": "bits: (n >> k) & 1",
    "complex": "two floats, its parts",
    "filter": "a comprehension with `if`",
    "frozenset": "a tuple",
    "hash": f"arithmetic of your own on ints, or hash(...) {_OUTSIDE}",
    "iter": "an index or a loop over the tuple",
    "map": "a comprehension: [f(v) for v in values]",
    "next": "an index or a loop over the tuple",
    "print": "return the value, and print what the call gives",
    "set": "a tuple",
    "slice": "t[a:b]",
    "sorted": "min(...) and max(...), or `if a > b: a, b = b, a`",
}
_OPERATORS = "the operator itself: a + b, a < b, t[i]"
_DRAWN = "an argument: torch.rand_like(x) given to this function"


def instead_of(function: object) -> str:
    """What to write instead of calling a function with elements; never empty.

    Args:
        function: anything that can be called.
    """
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", "") or ""
    if (dotted := torch_api.dotted_name(function)) is not None:
        return of_torch(dotted)
    if module == "math":
        return _MATH.get(name, _LOOP)
    if getattr(builtins, name, None) is function:
        return _PYTHON.get(name, f"{name}(...) {_OUTSIDE}")
    if module in ("_operator", "operator"):
        return _OPERATORS
    if _module(function).startswith("numpy"):
        twin = _twin(name)
        return f"{twin}(x)" if twin else f"a function of math or torch, or it {_OUTSIDE}"
    if _module(function).partition(".")[0] in ("random", "_random", "secrets"):
        return _DRAWN
    if isinstance(function, type):
        return "a tuple, a NamedTuple or a frozen dataclass"
    return "a function of your own with `def`, which becomes part of this one"


def of_torch(name: str) -> str:
    """What to write instead of a torch function that is no row of single elements.

    Args:
        name: dotted.
    """
    short = name.rpartition(".")[2]
    known: Callable[..., object] | None = getattr(math, short, None)
    if known is not None and short not in _MATH:
        return f"math.{short}(...)"
    if short in ("max", "min"):
        return f"{short}(a, b)"
    if short in ("tensor", "as_tensor", "scalar_tensor"):
        return "the number itself"
    if short.startswith("rand"):
        return _DRAWN
    return f"{name} {_OUTSIDE}"


def of_method(name: str) -> str:
    """What to write instead of an attribute of an element.

    Args:
        name: of the attribute.
    """
    if name in ("item", "real", "float", "double", "detach", "clone", "contiguous", "to"):
        return "the number itself"
    if name in ("shape", "size", "dim", "ndim", "dtype", "device", "numel", "stride"):
        return f"an argument that says so: an element has no {name}"
    if callable(getattr(torch, name, None)) and hasattr(torch.Tensor, name):
        return f"torch.{name}(...)"
    return "a function of math or torch, or arithmetic"


def _module(function: object) -> str:
    """The module of a function or, for a method in C, of its object's class."""
    own = getattr(function, "__self__", None)
    home = function if getattr(function, "__module__", None) else type(own)
    found = str(getattr(home, "__module__", "") or "")
    return type(function).__module__ if not found or found == "builtins" else found


def _twin(name: str) -> str:
    """The function of math or torch with the name of one of numpy, "" for none."""
    alias = {"arctan2": "atan2", "absolute": "abs", "power": "pow"}.get(name, name)
    alias = alias.replace("arc", "a", 1) if alias.startswith("arc") else alias
    if hasattr(math, alias) and alias not in _MATH:
        return f"math.{alias}"
    return f"torch.{alias}" if hasattr(torch, alias) else ""
