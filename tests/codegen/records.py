"""Kernel records written by hand: the six functions that the structure must hold."""

from astjit.fusion.kernel import Buffer, Kernel
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node
from astjit.ir.value import Param, Result, Value
from astjit.location import Location
from astjit.types.dtype import BY_NAME, F32
from astjit.types.shape import Sym
from astjit.types.tensor import PY_FLOAT, TensorType

LINES = {}


class Record:
    """Writes a kernel: r.load("x"), r.emit("add", a, b), r.store("y", value)."""

    def __init__(self, name, kind, parallel, reduced, buffers, numbers=()):
        self.block = Block()
        self.builder = Builder(self.block)
        self.name, self.kind, self.parallel, self.reduced = name, kind, parallel, reduced
        self.buffers, self.params = [], {}
        for spec in buffers:
            buffer_name, dtype, axes, role = spec[:4]
            strides = spec[4] if len(spec) > 4 else None
            self.buffers.append(Buffer(buffer_name, BY_NAME[dtype], axes, role, strides))
            self.params[buffer_name] = self.builder.param(
                buffer_name, TensorType(BY_NAME[dtype], ())
            )
        for number in numbers:
            self.params[number] = self.builder.param(number, PY_FLOAT)

    def at(self, line, text=""):
        self.builder.location = Location("functions.py", line)
        LINES[line] = text or LINES.get(line, "")
        return self

    def load(self, buffer, *index, at=None):
        axes = next(b.axes for b in self.buffers if b.name == buffer)
        return self.builder.emit("load", self.params[buffer], *index, at=at or ",".join(axes))

    def emit(self, op, *operands, name="", **fields):
        made = self.builder.emit(op, *operands, **fields)
        made.name = name
        return made

    def number(self, name):
        return self.emit("to", self.params[name], dtype=F32)

    def size(self, axis):
        return self.emit("to", self.emit("size", value=Sym(axis)), dtype=F32)

    def store(self, buffer, value):
        axes = next(b.axes for b in self.buffers if b.name == buffer)
        self.builder.node(
            self.builder_op("store"), (self.params[buffer], value), {"at": ",".join(axes)}
        )

    def builder_op(self, name):
        from astjit.ops.table import OPS

        return OPS[name]

    def kernel(self):
        lines = tuple(dict.fromkeys(n.location for n in self.block.nodes if n.location))
        return Kernel(
            self.name,
            self.kind,
            self.parallel,
            self.reduced,
            tuple(self.buffers),
            self.block,
            lines,
        )


RC, R, C = ("rows", "cols"), ("rows",), ("cols",)


def bias_gelu(dtype="f32"):
    r = Record(
        "bias_gelu_residual",
        "pointwise",
        RC,
        (),
        [
            ("x", dtype, RC, "in"),
            ("bias", dtype, C, "in"),
            ("residual", dtype, RC, "in"),
            ("out", dtype, RC, "out"),
        ],
    )
    r.at(8, "h = x + bias")
    h = r.emit("add", r.load("x"), r.load("bias"), name="h")
    r.at(9, 'return F.gelu(h, approximate="tanh") + residual')
    cube = r.emit("mul", r.emit("mul", h, h), h)
    inner = r.emit("mul", 0.7978845608028654, r.emit("add", h, r.emit("mul", 0.044715, cube)))
    half = r.emit("mul", 0.5, h)
    gelu = r.emit("mul", half, r.emit("add", 1.0, r.emit("tanh", inner)))
    r.store("out", r.emit("add", gelu, r.load("residual")))
    return r.kernel()


def rms_norm():
    r = Record(
        "rms_norm_residual",
        "row",
        R,
        C,
        [
            ("x", "f32", RC, "in"),
            ("residual", "f32", RC, "in"),
            ("weight", "f32", C, "in"),
            ("h", "f32", RC, "out"),
            ("y", "f32", RC, "out"),
        ],
        ("eps",),
    )
    r.at(13, "h = x + residual")
    h = r.emit("add", r.load("x"), r.load("residual"), name="h")
    r.store("h", h)
    r.at(14, "rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)")
    total = r.emit("reduce", r.emit("mul", h, h), combine="sum")
    mean = r.emit("div", total, r.size("cols"))
    rstd = r.emit("rsqrt", r.emit("add", mean, r.number("eps")), name="rstd")
    r.at(15, "return h, h * rstd * weight")
    y = r.emit("mul", r.emit("mul", h, rstd), r.load("weight"), name="y")
    r.store("y", y)
    return r.kernel()


def softmax(dtype="f32"):
    r = Record("softmax", "row", R, C, [("x", dtype, RC, "in"), ("out", dtype, RC, "out")])
    r.at(20, "return torch.softmax(x, dim=-1)")
    x = r.load("x")
    m = r.emit("reduce", x, combine="max")
    e = r.emit("exp", r.emit("sub", x, m))
    s = r.emit("reduce", e, combine="sum")
    y = r.emit("div", e, s)
    if dtype != "f32":
        y = r.emit("round_to", y, dtype=BY_NAME[dtype])
    r.store("out", y)
    return r.kernel()


def source_line(location):
    return LINES.get(location.line, "")
