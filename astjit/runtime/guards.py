"""What must hold for a program to be valid, as a flat list of tests, the cheapest first.

    if type(x) not in PLAIN or x.dtype is not float32 or not x.is_cpu or not x.is_contiguous():
        return MISS
    x0, x1 = x.shape
    if x0 == 1 or x1 == 1:
        return MISS

The same list gives the program's guards and the function that says which of them failed. Anything
a guard raises, such as unpacking a shape of another rank, counts as failed.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise

from astjit.frontend.reads import Reads
from astjit.ir.function import Function
from astjit.ir.value import Param, Value
from astjit.runtime.checks import Bind, Check, Item, Note, bound, kept
from astjit.runtime.expressions import found_in
from astjit.runtime.kept import Tensors
from astjit.runtime.outside import Outside
from astjit.runtime.words import Words
from astjit.types.shape import Dim, Predicate, Sym, hint, symbols, text
from astjit.types.tensor import PY_INT, ScalarType, TensorType

_SIGNS = {"==": "!=", "!=": "=="}
_HELD = re.compile(r"\._(?:parameters|buffers)\['\w+'\]$")
_FEWEST = 2  # tensors of modules for which a memory is worth its call


class Guards:
    """The guards of a function, and the names they give to its inputs and sizes.

    Attributes:
        items: statements and tests in order.
        inputs: the text of each input.
        sizes: the text of each size symbol.
    """

    def __init__(self, function: Function, reads: Reads, words: Words) -> None:
        self.words = words
        self.inputs: dict[Value, str] = {}
        self.sizes: dict[str, str] = {}
        self.items: list[Item] = []
        self._equal: list[Check] = []
        self._repeated, self._pins = _repeated(function.assumed), reads.pins
        tensors = [p for p in function.params if isinstance(p.type, TensorType)]
        given = [p for p in function.params if p.path in reads.parameters]
        held = [p for p in tensors if p not in given and _HELD.search(p.path)]
        self._held = held if len(held) >= _FEWEST else []
        self.inputs.update({p: p.path for p in given})
        for param in given:
            self._input(param)
        self.items += Outside(function, reads, words, self.inputs, self._asked).items
        block: list[Item] = []
        for param in tensors:
            with self._into(block if param in self._held else self.items):
                if param in self._held:
                    self._kind(self.inputs[param], _tensor(param))
                self._measure(param, _tensor(param))
        tests: list[Check] = [*self._equal, *(self._fact(fact) for fact in function.assumed)]
        floats = [p for p in tensors if _tensor(p).dtype.is_float]
        wanted = [f"{self.inputs[p]}.requires_grad" for p in floats if p not in self._held]
        inner = [f"{self.inputs[p]}.requires_grad" for p in floats if p in self._held]
        if inner:
            wanted.append(self.words.names.take("wants_grad"))
            block.append(Bind(f"{wanted[-1]} = {' or '.join(inner)}"))
        self.items += self._tensors(block, tests, wanted[-1:])
        self._gradients(wanted)

    def size(self, dim: Dim) -> str:
        """Python text of a size."""
        return text(dim, lambda symbol: self.sizes[symbol.name])

    @contextmanager
    def _into(self, items: list[Item]) -> Iterator[None]:
        """Add what follows to these items."""
        outer, self.items = self.items, items
        try:
            yield
        finally:
            self.items = outer

    def _asked(self, param: Param) -> list[Item]:
        """The tests of an input that is a part of an object, but for those asked together."""
        items: list[Item] = []
        if param not in self._held:
            with self._into(items):
                self._input(param)
        return items

    # -- one input ------------------------------------------------------------------------------
    def _input(self, param: Param) -> None:
        if isinstance(param.type, ScalarType):
            self._number(param, param.type)
        else:
            self._kind(self.inputs[param], _tensor(param))

    def _number(self, param: Param, kind: ScalarType) -> None:
        name, type_of = self.inputs[param], self.words.word("type")
        expected = self.words.word(str(kind))
        self._check(f"{type_of}({name}) is not {expected}", f"{name} is not a Python {kind}", name)
        if kind == PY_INT:
            self.sizes.setdefault(param.name, name)  # where it is used as a size
            wide = f"not {self.words.word('INT64_MIN')} <= {name} <= {self.words.word('INT64_MAX')}"
            self._check(wide, f"{name} needs more than 64 bits", name)

    def _kind(self, name: str, kind: TensorType) -> None:
        """Python type, dtype, device and, where one call tells, the layout."""
        type_of, tensors = self.words.word("type"), self.words.word("PLAIN")
        dtype = self.words.dtype(kind.dtype)
        tests = [
            (f"{type_of}({name}) not in {tensors}", "is not a plain tensor"),
            (f"{name}.dtype is not {dtype}", f"is not of dtype {kind.dtype.torch}"),
        ]
        if kind.device == "cpu":
            tests.append((f"not {name}.is_cpu", "is not on the CPU"))
        else:
            index = int(kind.device.partition(":")[2] or 0)
            tests.append((f"{name}.get_device() != {index}", f"is not on {kind.device}"))
        if kind.is_contiguous:
            tests.append((f"not {name}.is_contiguous()", "is not contiguous"))
        if kind.order is None or all(d == 1 for d in kind.dims):
            # a part of a conjugate is strided, and may be negated when it is read
            tests.append((f"{name}.is_neg()", "is negated lazily"))
        if not kind.rank:
            tests.append((f"{name}.dim()", "has not 0 dims"))
        for fails, wrong in tests:
            self._check(fails, f"{name} {wrong}", name)

    def _measure(self, param: Param, kind: TensorType) -> None:
        """Rank, sizes and strides."""
        name = self.inputs[param]
        if not kind.rank:
            return
        wrong = f"{name} has not {kind.rank} dims"
        self._check(f"{name}.dim() != {kind.rank}", wrong, shown=False)
        wishes = [
            d.name if isinstance(d, Sym) and d.name not in self.sizes else f"{name}{axis}"
            for axis, d in enumerate(kind.dims)
        ]
        local = self._unpack(f"{name}.shape", kind.dims, wishes)
        for axis, dim in enumerate(kind.dims):
            why = self._pins.get(f"{param.path}.shape[{axis}]", "")
            self._size(local[axis], dim, f"size {axis} of {name}", why and f": {why}")
        if not kind.is_contiguous:
            self._strides(name, kind)

    def _unpack(self, source: str, dims: tuple[Dim, ...], wishes: list[str]) -> list[str]:
        """Bind the sizes or strides that `source` gives; new symbols are known from here on."""
        local = []
        for dim, wish in zip(dims, wishes, strict=True):
            local.append(self.words.names.take(wish))
            if isinstance(dim, Sym):
                self.sizes.setdefault(dim.name, local[-1])
        targets = ", ".join(local) if len(local) > 1 else f"({local[0]},)"
        self.items.append(Bind(f"{targets} = {source}"))
        return local

    def _size(self, local: str, dim: Dim, what: str, why: str) -> None:
        match dim:
            case int():
                self._equal.append(Check(f"{local} != {dim}", f"{what} is not {dim}{why}"))
            case Sym() if self.sizes[dim.name] == local:
                if dim.name not in self._repeated:
                    self._equal.append(Check(f"{local} == 1", f"{what} is 1"))
            case _:
                shown = self._known(dim)
                self._equal.append(Check(f"{local} != {shown}", f"{what} is not {shown}"))

    def _known(self, dim: Dim) -> str:
        missing = [s.name for s in symbols(dim) if s.name not in self.sizes]
        if missing:
            raise ValueError(f"no input has the size {', '.join(missing)}")
        return self.size(dim)

    def _strides(self, name: str, kind: TensorType) -> None:
        """A dense layout in another order, or the class of a strided one (decision D5)."""
        strides = kind.element_strides()
        real = [a for a in range(kind.rank) if kind.dims[a] != 1]
        symbols_only = tuple(s if kind.strides is not None else 1 for s in strides)
        wishes = [f"{name}_stride{axis}" for axis in range(kind.rank)]
        local = self._unpack(f"{name}.stride()", symbols_only, wishes)
        for axis in real:
            stride = strides[axis]
            if isinstance(stride, Sym) and self.sizes.get(stride.name) == local[axis]:
                continue
            shown = self._known(stride)
            wrong = f"stride {axis} of {name} is not {shown}"
            self._equal.append(Check(f"{local[axis]} != {shown}", wrong))
        if kind.strides is not None:
            self._order(name, local, strides, [a for a in real if strides[a] != 0])

    def _order(
        self, name: str, local: list[str], strides: tuple[Dim, ...], axes: list[int]
    ) -> None:
        """The strides sorted as in the call that was captured: layouts of results follow it."""
        falling = sorted(axes, key=lambda axis: (-_hint(strides[axis]), axis))
        reason = f"the strides of {name} are ordered otherwise"
        for outer, inner in pairwise(falling):
            if isinstance(strides[outer], Sym):
                self._equal.append(Check(f"{local[outer]} < {local[inner]}", reason))
        for axis in axes:
            if isinstance(strides[axis], Sym):
                wrong = f"stride {axis} of {name} is 0 or 1"
                self._equal.append(Check(f"{local[axis]} < 2", wrong))

    # -- everything else ------------------------------------------------------------------------
    def _fact(self, fact: Predicate) -> Check:
        left, right = self._known(fact.left), self._known(fact.right)
        if fact.op in _SIGNS:
            return Check(f"{left} {_SIGNS[fact.op]} {right}", f"not {left} {fact.op} {right}")
        return Check(f"not {left} {fact.op} {right}", f"not {left} {fact.op} {right}")

    # -- what need not be asked at each call ----------------------------------------------------
    def _tensors(
        self, block: list[Item], tests: list[Check], asked: Iterable[str]
    ) -> Iterator[Item]:
        """The tests of tensors, those of modules asked again when they are not as before."""
        if not block:
            yield from tests
            return
        local = set(bound(block))
        block += [test for test in tests if _names(test.fails) <= local]
        late = [test for test in tests if not _names(test.fails) <= local]
        later = {*asked, *self.sizes.values()}.union(*(_names(test.fails) for test in late))
        memory = self.words.define("tensors", Tensors())
        given = tuple(self.inputs[param] for param in self._held)
        needed = [name for name in bound(block) if name in later]
        yield Note("tensors of modules")
        yield kept(self.words.names.take, memory, given, block, needed)
        yield from late

    def _gradients(self, wants: list[str]) -> None:
        if wants:
            wanted = " or ".join(wants)
            shown = wanted if len(wants) == 1 else f"({wanted})"
            self.items.append(Note("gradients run eagerly"))
            enabled = self.words.word("grad_enabled")
            wrong = "an input requires a gradient"
            self._check(f"{enabled}() and {shown}", wrong, "gradients")

    def _check(self, fails: str, reason: str, about: str = "", *, shown: bool = True) -> None:
        self.items.append(Check(fails, reason, about, shown))


def _repeated(facts: Iterable[Predicate]) -> set[str]:
    """Symbols that are guarded to equal an earlier one, and so need no guard of their own."""
    first: dict[str, str] = {}
    for fact in facts:
        if fact.op == "==" and isinstance(fact.left, Sym) and isinstance(fact.right, Sym):
            left, right = (first.get(s.name, s.name) for s in (fact.left, fact.right))
            first = {k: left if v == right else v for k, v in first.items()}
            first.update({fact.left.name: left, fact.right.name: left})
    return {name for name, representative in first.items() if name != representative}


def _tensor(param: Param) -> TensorType:
    assert isinstance(param.type, TensorType)
    return param.type


def _hint(stride: Dim) -> int:
    try:
        return hint(stride)
    except KeyError:  # a function made by hand
        return 0


def _names(test: str) -> set[str]:
    return {name for found in found_in(test) for name in found.names}
