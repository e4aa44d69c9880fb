"""Random functions: elementwise rows, reductions, composites, views and matrix products."""

import torch

from astjit.errors import ShapeMismatch
from astjit.ir.builder import Builder
from astjit.ir.function import Function
from astjit.types.dtype import F64
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import PY_FLOAT, TensorType
from tests.fusion.execute import torch_dtype

UNARY = ("neg", "abs", "relu", "tanh")
BINARY = ("add", "mul", "sub", "maximum", "minimum")
EXACT_UNARY = ("neg", "abs", "relu")


def sym(name, size):
    """A size of an input: a symbol, or the literal 1 (decision D1)."""
    return 1 if size == 1 else Sym(name, size)


class Programs:
    """Draws one function by the choices of a random.Random."""

    def __init__(self, random, dtype=F64, exact=False):
        self.random, self.dtype, self.exact = random, dtype, exact
        self.function = Function("f")
        self.sizes = Sizes(hints=True)
        self.emit = Builder(self.function.body, self.sizes)
        self.values = []

    def draw(self, steps):
        pick = self.random.choice
        rows, cols, deep = (sym(n, pick((0, 1, 2, 3, 4))) for n in ("rows", "cols", "deep"))
        shapes = ((rows, cols), (rows, cols), (cols,), (rows, 1), (deep, rows, cols), (rows,), ())
        for index in range(self.random.randint(1, 4)):
            dims = pick(shapes)
            order = list(range(len(dims)))
            if self.random.random() < 0.3:
                self.random.shuffle(order)
            kind = TensorType(self.dtype, dims, tuple(order))
            self.values.append(self.emit.param(f"x{index}", kind))
        self.number = self.emit.param("number", PY_FLOAT)
        for _ in range(steps):
            try:
                self.step()
            except (ShapeMismatch, KeyError):
                continue
        made = [v for v in self.values if v not in self.function.params] or self.values
        for value in {id(v): v for v in [made[-1], *self.some(made)]}.values():
            self.function.results.append(value)
        self.function.assumed.extend(self.sizes.assumed)
        return self.function

    def some(self, values):
        return [v for v in values if self.random.random() < 0.2]

    def step(self):
        random = self.random
        steps = [self.unary, self.binary, self.binary, self.scalar, self.view, self.view]
        if not self.exact:
            steps += [self.reduce, self.reduce, self.composite, self.composite, self.matmul]
        name = random.choice(["a", "b", "y", ""])
        for made in random.choice(steps)(self.value()):
            made.name = name
            self.values.append(made)

    def value(self):
        """A value, a recent one more often."""
        at = max(self.random.randrange(len(self.values)) for _ in range(2))
        return self.values[at]

    def unary(self, x):
        return [self.emit.emit(self.random.choice(EXACT_UNARY if self.exact else UNARY), x)]

    def binary(self, x):
        return [self.emit.emit(self.random.choice(BINARY), x, self.value())]

    def scalar(self, x):
        return [self.emit.emit("mul", x, self.random.choice((0.3, 2, self.number)))]

    def axis(self, x):
        return self.random.randrange(max(x.type.rank, 1))

    def reduce(self, x):
        axes = tuple(range(self.axis(x), x.type.rank))
        op = self.random.choice(("sum", "mean", "sum", "var"))
        if any(d in (0, 1) or (isinstance(d, Sym) and d.hint == 0) for d in x.type.dims):
            op = "sum"  # eager warns of, or refuses, the others
        return [self.emit.emit(op, x, dim=axes, keepdim=self.random.random() < 0.7)]

    def composite(self, x):
        op = self.random.choice(("softmax", "log_softmax", "silu", "gelu", "layer_norm"))
        if op == "layer_norm":
            if any(d == 0 or (isinstance(d, Sym) and d.hint == 0) for d in x.type.dims):
                return []
            return [self.emit.emit(op, x, None, None, 1e-5, normalized_shape=x.type.dims[-1:])]
        if "softmax" in op:
            return [self.emit.emit(op, x, dim=self.random.choice((-1, self.axis(x))))]
        return [self.emit.emit(op, x)]

    def matmul(self, x):
        if x.type.rank != 2:
            return []
        return [self.emit.emit("matmul", x, self.emit.emit("permute", x, dims=(1, 0)))]

    def view(self, x):
        emit, random = self.emit, self.random
        rank = x.type.rank
        match random.randrange(5):
            case 0:
                dims = random.sample(range(rank), rank)
                return [emit.emit("permute", x, dims=tuple(dims))]
            case 1 if rank < 3:
                return [emit.emit("unsqueeze", x, dim=random.randrange(rank + 1))]
            case 2:
                return [emit.emit("squeeze", x, dim=tuple(range(rank)))]
            case 3 if rank:
                return [
                    emit.emit("slice", x, dim=self.axis(x), start=1, step=random.choice((1, 2)))
                ]
            case 4 if rank and rank < 3:
                return [emit.emit("expand", x, size=(2, *x.type.dims))]
        return []


def arguments(function, seed=0):
    """Tensors of the parameters' types at the hinted sizes, and a number."""
    made = torch.Generator().manual_seed(seed)
    found = []
    for param in function.params:
        if not isinstance(param.type, TensorType):
            found.append(0.7)
            continue
        shape = [d.hint if isinstance(d, Sym) else d for d in param.type.dims]
        tensor = torch.randn([shape[a] for a in param.type.order], generator=made)
        back = [param.type.order.index(a) for a in range(len(shape))]
        found.append(tensor.to(torch_dtype(param.type.dtype)).permute(back))
    return found
