"""Shared by tests of SSA: passes before and after as text, random functions, equal results."""

import textwrap

import torch

from astjit.errors import ShapeMismatch
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Function, make_node
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.value import Literal
from astjit.ir.verifier import verify
from astjit.location import Location
from astjit.ops.spec import Kind, Trait
from astjit.ops.table import OPS
from astjit.runtime.interpret import run_node
from astjit.types import dtype as dt
from astjit.types.shape import Sizes, Sym, evaluate, symbols
from astjit.types.tensor import PY_FLOAT, PY_INT, TensorType

# --- passes --------------------------------------------------------------------------------------


def text_of(text):
    """SSA text as the printer has it, whatever the indentation in the test."""
    return function_text(parse(textwrap.dedent(text).strip()))


def check_pass(function, before, after):
    """A pass turns `before` into `after`, says that it did, and does nothing the second time."""
    subject = parse(textwrap.dedent(before).strip())
    verify(subject)
    start = function_text(subject)
    wanted = textwrap.dedent(after).strip() + "\n"
    changed = function(subject)
    verify(subject, after=function.__name__)
    assert function_text(subject) == wanted
    assert changed == (start != wanted)
    assert not function(subject)
    assert function_text(subject) == wanted


def check_alone(function, text):
    """A pass leaves this text alone."""
    check_pass(function, text, text_of(text))


# --- random functions ----------------------------------------------------------------------------

ROWS, COLS = Sym("x0", 3), Sym("x1", 4)
SHAPES = ((ROWS, COLS), (COLS,), (ROWS, 1), (), (ROWS, COLS))
DTYPES = (dt.F32, dt.F32, dt.F64, dt.BF16, dt.I64, dt.BOOL)
NUMBERS = (0, 1, 2, True, 1.0, 0.5, 1e-06, -0.0, 0.0, float("inf"), float("nan"), -3)
SKIPPED = (Kind.CONTROL, Kind.BODY, Kind.FACTORY)


class Generator:
    """Makes a random function of rows that the table has, valid by construction.

    `regions` adds an `if`, for tests that do not run the function; `runs` keeps to what PyTorch
    does not refuse, such as Python numbers where a torch function wants a tensor.
    """

    def __init__(self, random, *, exact=False, regions=False, runs=False, nodes=10):
        self.random, self.regions, self.runs, self.nodes = random, regions, runs, nodes
        self.rows = [
            op
            for op in OPS.values()
            if op.kind not in SKIPPED
            and all(f.default is not ... or f.name in ("dim", "dtype") for f in op.fields)
            and not op.traits & Trait.EFFECT
            and (not exact or op.traits & Trait.EXACT)
        ]

    def function(self):
        made = Function("random", default=dt.F32)
        self.builder = Builder(made.body, Sizes(hints=True))
        self.values, self.done = [], []
        for name in "abc":
            kind = TensorType(self.random.choice(DTYPES), self.random.choice(SHAPES))
            self.values.append(self.builder.param(name, kind, name))
        self.values.append(self.builder.param("full", TensorType(dt.F32, (ROWS, COLS)), "full"))
        self.values.append(self.builder.param("n", PY_INT, "n"))
        self.values.append(self.builder.param("eps", PY_FLOAT, "state['eps']"))
        if self.runs:
            self.data = dict(zip(made.params, random_arguments(made, 0), strict=True))
        for _ in range(self.nodes):
            self.step()
        if self.regions:
            self.branch()
        tensors = [v for v in self.values if isinstance(v.type, TensorType)]
        made.body.results.extend(self.random.sample(tensors, min(3, len(tensors))))
        made.assumed = self.builder.sizes.assumed
        return made

    def step(self):
        for _ in range(20):
            if self.done and self.random.random() < 0.3:
                op, operands, fields = self.random.choice(self.done)
            else:
                op = self.random.choice(self.rows)
                operands = tuple(self.operand(o) for o in op.operands)
                fields = {f.name: self.field(f) for f in op.fields if self.chosen(f)}
            line = self.random.choice((None, 3, 14))
            self.builder.location = Location("model.py", line) if line else None
            try:
                node = self.builder.node(op, operands, fields)
            except (ShapeMismatch, KeyError, AssertionError):
                continue
            if self.runs and not self.tried(node):
                self.builder.block.nodes.remove(node)
                continue
            for result in node.results:
                result.name = self.random.choice(("", "", "y", "z"))
            self.done.append((op, operands, fields))
            self.values.extend(node.results)
            return

    def tried(self, node):
        try:
            results = run_node(node, self.data, {s.name: s.hint for s in (ROWS, COLS)})
        except Exception:  # whatever PyTorch says: such a node is not for running
            return False
        self.data.update(zip(node.results, results, strict=True))
        return True

    def operand(self, declared):
        if declared.optional and self.random.random() < 0.5:
            return None
        if self.random.random() < 0.2:
            return Literal(self.random.choice(NUMBERS))
        return self.random.choice(self.values)

    def chosen(self, declared):
        return declared.required or (
            declared.name in ("dim", "keepdim") and self.random.random() < 0.5
        )

    def field(self, declared):
        if declared.name == "dim":
            axis = self.random.choice((0, -1))
            return (axis,) if declared.kind.value == "axes" else axis
        if declared.name == "dtype":
            return self.random.choice((dt.F32, dt.F64, dt.I32))
        return {"keepdim": True, "value": ROWS}.get(declared.name, declared.default)

    def branch(self):
        condition = self.builder.param("cond", TensorType(dt.BOOL, ()), "cond")
        arms = (Block(), Block())
        for arm in arms:
            inner = Builder(arm, self.builder.sizes)
            arm.results.append(inner.emit("neg", self.values[3]))
        kind = arms[0].results[0].type
        node = make_node(OPS["if"], (condition,), {}, (kind,), Location("model.py", 9), arms)
        self.builder.block.nodes.append(node)
        self.values.append(node.results[0])


def random_function(random, **options):
    """A valid function from a `random.Random`; options as in Generator."""
    return Generator(random, **options).function()


def random_arguments(function, seed):
    """Tensors and numbers of the types of a function's parameters, with the symbols' hints."""
    torch.manual_seed(seed)
    return [_argument(p.type) for p in function.params]


def _argument(kind):
    if not isinstance(kind, TensorType):
        return 3 if kind == PY_INT else 1.5
    sizes = {s.name: s.hint or 3 for d in kind.dims for s in symbols(d)}
    shape = [evaluate(d, sizes) for d in kind.dims]
    dtype = getattr(torch, kind.dtype.torch)
    values = torch.randn(shape) * 2
    return values > 0 if kind.dtype is dt.BOOL else values.to(dtype)


def assert_same(actual, expected):
    """Equal bit for bit, where any NaN equals any NaN."""
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        if not isinstance(one, torch.Tensor):
            assert repr(one) == repr(other)
            continue
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True, check_stride=True)
        if one.is_floating_point():
            zero = one == 0
            assert torch.equal(torch.signbit(one)[zero], torch.signbit(other)[zero])
