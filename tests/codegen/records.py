"""Kernel records written by hand: the six functions that the structure must hold."""

from astjit.fusion.kernel import Buffer, Kernel
from astjit.ir.builder import Builder
from astjit.ir.function import Block
from astjit.location import Location
from astjit.ops.table import OPS
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

    def load(self, buffer, *index, at=None, name=""):
        axes = next(b.axes for b in self.buffers if b.name == buffer)
        place = ",".join(axes) if at is None else at
        return self.emit("load", self.params[buffer], *index, name=name, at=place)

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
        self.builder.node(OPS["store"], (self.params[buffer], value), {"at": ",".join(axes)})

    def rounded(self, value, dtype, name=""):
        """`value` as a result of eager's in `dtype`: narrow ones are rounded after each op."""
        if BY_NAME[dtype].is_half:
            value = self.emit("round_to", value, dtype=BY_NAME[dtype])
        value.name = name
        return value

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
    """Pointwise, with one buffer that repeats over rows."""
    buffers = [("x", RC, "in"), ("bias", C, "in"), ("residual", RC, "in"), ("out", RC, "out")]
    r = Record(
        "bias_gelu", "pointwise", RC, (), [(b, dtype, axes, role) for b, axes, role in buffers]
    )
    r.at(8, "h = x + bias")
    h = r.rounded(r.emit("add", r.load("x"), r.load("bias")), dtype, "h")
    r.at(9, 'return F.gelu(h, approximate="tanh") + residual')
    cube = r.emit("mul", r.emit("mul", h, h), h)
    inner = r.emit("mul", 0.7978845608028654, r.emit("add", h, r.emit("mul", 0.044715, cube)))
    half = r.emit("mul", 0.5, h)
    gelu = r.rounded(r.emit("mul", half, r.emit("add", 1.0, r.emit("tanh", inner))), dtype)
    r.store("out", r.rounded(r.emit("add", gelu, r.load("residual")), dtype))
    return r.kernel()


def rms_norm(dtype="f32"):
    """Row: a value kept from the first pass for the second, which is also a result."""
    buffers = [("x", RC, "in"), ("residual", RC, "in"), ("weight", C, "in")]
    buffers += [("h", RC, "out"), ("y", RC, "out")]
    specs = [(b, dtype, axes, role) for b, axes, role in buffers]
    r = Record("rms_norm", "row", R, C, specs, ("eps",))
    r.at(13, "h = x + residual")
    h = r.rounded(r.emit("add", r.load("x"), r.load("residual")), dtype, "h")
    r.store("h", h)
    r.at(14, "rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)")
    total = r.emit("reduce", r.rounded(r.emit("mul", h, h), dtype), combine="sum")
    mean = r.rounded(r.emit("div", total, r.size("cols")), dtype)
    shifted = r.rounded(r.emit("add", mean, r.number("eps")), dtype)
    rstd = r.rounded(r.emit("rsqrt", shifted), dtype, "rstd")
    r.at(15, "y = h * rstd * weight")
    scaled = r.rounded(r.emit("mul", h, rstd), dtype)
    r.store("y", r.rounded(r.emit("mul", scaled, r.load("weight")), dtype, "y"))
    return r.kernel()


def softmax(dtype="f32"):
    """Row, three passes."""
    r = Record("softmax", "row", R, C, [("x", dtype, RC, "in"), ("out", dtype, RC, "out")])
    r.at(20, "return torch.softmax(x, dim=-1)")
    x = r.load("x")
    m = r.emit("reduce", x, combine="max")
    e = r.emit("exp", r.emit("sub", x, m))
    s = r.emit("reduce", e, combine="sum")
    r.store("out", r.rounded(r.emit("div", e, s), dtype))
    return r.kernel()


def layer_norm():
    """Row: two reductions, the second of what the first leaves; per-row results."""
    buffers = [("x", RC, "in"), ("weight", C, "in"), ("y", RC, "out"), ("mean", R, "out")]
    r = Record("layer_norm", "row", R, C, [(b, "f32", axes, role) for b, axes, role in buffers])
    x = r.load("x")
    total = r.emit("reduce", x, combine="sum")
    mean = r.emit("div", total, r.size("cols"), name="mean")
    r.store("mean", mean)
    centred = r.emit("sub", x, mean, name="centred")
    squares = r.emit("reduce", r.emit("mul", centred, centred), combine="sum")
    rstd = r.emit("rsqrt", r.emit("div", squares, r.size("cols")), name="rstd")
    r.store("y", r.emit("mul", r.emit("mul", centred, rstd), r.load("weight")))
    return r.kernel()


def cross_entropy():
    """Row, with one element of the row gathered by an index that is a value."""
    buffers = [("x", "f32", RC, "in"), ("target", "i64", R, "in"), ("out", "f32", R, "out")]
    r = Record("cross_entropy", "row", R, C, buffers)
    r.at(24, 'return F.cross_entropy(x, target, reduction="none")')
    x = r.load("x")
    m = r.emit("reduce", x, combine="max")
    s = r.emit("reduce", r.emit("exp", r.emit("sub", x, m)), combine="sum")
    target = r.load("target", name="target")
    ignored = r.emit("eq", target, -100, name="ignored")
    index = r.emit("where", ignored, 0, target)
    picked = r.load("x", index, at="rows,*", name="picked")
    loss = r.emit("sub", r.emit("log", s), r.emit("sub", picked, m))
    r.store("out", r.emit("where", ignored, 0.0, loss, name="loss"))
    return r.kernel()


def square_sum0(dtype="f32"):
    """Column: rows are combined, lanes run along columns."""
    r = Record("square_sum0", "column", C, R, [("x", dtype, RC, "in"), ("out", dtype, C, "out")])
    r.at(28, "return (x * x).sum(0)")
    x = r.load("x")
    square = r.rounded(r.emit("mul", x, x), dtype, "square")
    r.store("out", r.rounded(r.emit("reduce", square, combine="sum"), dtype))
    return r.kernel()


def softmax0(dtype="f32"):
    """Column, three passes, between an axis outside and the columns."""
    axes = ("outer", "rows", "cols")
    buffers = [("x", dtype, axes, "in"), ("out", dtype, axes, "out")]
    r = Record("softmax0", "column", ("outer", "cols"), R, buffers)
    r.at(20, "return torch.softmax(x, dim=-1)")
    x = r.load("x")
    e = r.emit("exp", r.emit("sub", x, r.emit("reduce", x, combine="max")))
    quotient = r.emit("div", e, r.emit("reduce", e, combine="sum"))
    r.store("out", r.rounded(quotient, dtype))
    return r.kernel()


def sin_cos_sum(dtype="f32"):
    """Full: everything is combined into one element."""
    buffers = [("x", dtype, ("n",), "in"), ("out", dtype, (), "out")]
    r = Record("sin_cos_sum", "full", (), ("n",), buffers)
    r.at(32, "return (torch.sin(x) * torch.cos(x)).sum()")
    x = r.load("x")
    product = r.emit("mul", r.emit("sin", x), r.emit("cos", x), name="product")
    r.store("out", r.rounded(r.emit("reduce", product, combine="sum"), dtype))
    return r.kernel()


def logsumexp_mean(dtype="f32"):
    """Row: what each row gives is combined over all rows."""
    r = Record("logsumexp_mean", "row", R, C, [("x", dtype, RC, "in"), ("out", dtype, (), "out")])
    r.at(36, "return torch.logsumexp(x, -1).mean()")
    x = r.load("x")
    m = r.emit("reduce", x, combine="max")
    s = r.emit("reduce", r.emit("exp", r.emit("sub", x, m)), combine="sum")
    loss = r.rounded(r.emit("add", r.emit("log", s), m), dtype, "loss")
    total = r.emit("reduce", loss, combine="sum", over="rows")
    r.store("out", r.rounded(r.emit("div", total, r.size("rows")), dtype))
    return r.kernel()


def source_line(location):
    return LINES.get(location.line, "")
