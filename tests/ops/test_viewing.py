"""Indexing, splitting and reshaping as view rows: the same memory, sizes and strides as torch."""

import pytest
import torch

from astjit.ops.binding import bind
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Sizes, Sym, add
from astjit.types.tensor import TensorType
from tests.ops import rows

BASE = torch.arange(120.0).reshape(2, 3, 4, 5)
LAYOUTS = {
    "contiguous": BASE,
    "permuted": BASE.permute(2, 0, 3, 1),
    "sliced": BASE[:, ::2, 1:, :3],
    "expanded": BASE[:, :1].expand(2, 3, 4, 5),
    "ones": BASE[:1, :, :1],
    "empty": BASE[:, :, :0],
}


def captured(name, *args, **kwargs):
    bound = bind(name, args, kwargs, lambda v: isinstance(v, torch.Tensor | int | float))
    if bound is None:
        return None, []
    emit = rows.TorchEmitter()
    made = bound.build(emit, emit.value)
    if made is NotImplemented:
        return None, emit.names
    return ([v.data for v in made] if isinstance(made, tuple | list) else [made.data]), emit.names


def assert_view(name, x, *args, copies=False, **kwargs):
    """The same results as torch's, as views of the same memory unless torch copies."""
    found, names = captured(name, x, *args, **kwargs)
    assert found is not None, "a library call"
    scope = torch.Tensor if name.startswith("Tensor") else torch
    wanted = getattr(scope, name.split(".")[1])
    wanted = wanted(x, *args, **kwargs) if callable(wanted) else wanted.__get__(x)
    wanted = list(wanted) if isinstance(wanted, tuple | list) else [wanted]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert torch.equal(a, b)
        assert rows.layout(a.shape, a.stride()) == rows.layout(b.shape, b.stride())
        if not copies:
            assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
            assert a.numel() == 0 or a.storage_offset() == b.storage_offset()
    if not copies:
        assert {OPS[n].kind for n in names} <= {Kind.VIEW}


INDICES = [
    0,
    -1,
    slice(1, None),
    slice(None, -1),
    slice(-2, 9),
    slice(2, 1),
    slice(None, None, 2),
    None,
    ...,
    (),
    (0, 1),
    (slice(None), 1),
    (..., 0),
    (..., None),
    (None, ..., slice(0, 2)),
    (0, ..., -1),
    (slice(1), None, 1, ..., slice(None, None, 3)),
]


@pytest.mark.parametrize("layout", [n for n in LAYOUTS if n not in ("ones", "empty")])
def test_basic_indexing(layout):
    for index in INDICES:
        assert_view("Tensor.__getitem__", LAYOUTS[layout], index)


def test_basic_indexing_of_tensors_with_sizes_0_and_1():
    for index in (0, ..., slice(1, None), (slice(None), 2), (None, 0)):
        assert_view("Tensor.__getitem__", LAYOUTS["ones"], index)
        assert_view("Tensor.__getitem__", LAYOUTS["empty"], index)


@pytest.mark.parametrize(
    "index", [True, [0, 1], torch.tensor([0]), (0, [1]), slice(None, None, -1), (..., ...), "x"]
)
def test_other_indexing_is_left_to_torch(index):
    assert captured("Tensor.__getitem__", BASE, index)[0] is None


@pytest.mark.parametrize("index", [2, -3, (0, 3), (0, 0, 0, 0, 0)])
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(IndexError):
        captured("Tensor.__getitem__", BASE, index)
    with pytest.raises(IndexError):
        BASE[index]


CALLS = [
    ("Tensor.transpose", 1, -1),
    ("torch.swapaxes", 0, 2),
    ("Tensor.mT",),
    ("torch.movedim", 0, -1),
    ("torch.movedim", (0, 1), (2, 0)),
    ("Tensor.permute", 3, 1, 0, 2),
    ("torch.permute", (3, 1, 0, 2)),
    ("torch.squeeze",),
    ("torch.squeeze", 0),
    ("Tensor.squeeze", (0, 2)),
    ("torch.unsqueeze", -1),
    ("torch.chunk", 2),
    ("torch.chunk", 5, -1),
    ("Tensor.split", 2, 3),
    ("Tensor.split", 1, 0),
    ("Tensor.unbind",),
    ("torch.unbind", 3),
    ("torch.narrow", 1, 0, 1),
    ("torch.select", 3, 1),
    ("torch.diagonal", 0, 1, 3),
]


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_views_of_many_layouts(call):
    name, *args = call
    for layout, x in LAYOUTS.items():
        if layout == "empty" and ("chunk" in name or "split" in name) and x.shape[args[-1]] == 0:
            continue
        assert_view(name, x, *args)


def test_views_of_matrices():
    for x in (torch.arange(6.0).reshape(2, 3), torch.arange(3.0), torch.tensor(1.0)):
        assert_view("Tensor.t", x)
    assert captured("Tensor.t", BASE)[0] is None
    assert_view("Tensor.T", torch.ones(2, 3))


def test_splits_of_given_sizes():
    assert_view("torch.split", BASE, [1, 3], 2)
    assert_view("torch.split", BASE, [0, 2, 2], dim=2)
    assert captured("torch.split", BASE, [1, 1], 2)[0] is None
    assert captured("torch.chunk", BASE, 0)[0] is None


def test_narrow_beyond_the_size_is_refused():
    with pytest.raises(IndexError):
        captured("torch.narrow", BASE, 0, 1, 2)


SHAPES = [
    (120,),
    (6, 20),
    (6, -1),
    (2, 3, 4, 5),
    (2, 3, 4, 5, 1),
    (1, 2, 3, 20),
    (2, 12, 5),
    (24, 5),
    (8, 15),
    (4, 2, 15),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reshape_is_a_view_exactly_where_torch_makes_one(shape):
    for layout in ("contiguous", "permuted", "expanded"):
        x = LAYOUTS[layout]
        try:
            x.view(shape)
        except RuntimeError:
            assert_view("torch.reshape", x, shape, copies=True)
            with pytest.raises(ValueError, match="not compatible"):
                captured("Tensor.view", x, *shape)
            continue
        assert_view("torch.reshape", x, shape)
        assert_view("Tensor.view", x, *shape)


def test_reshape_of_every_layout_of_three_axes():
    """All ways to permute, slice and expand a small tensor against all shapes of its size."""
    x = torch.arange(48.0).reshape(4, 3, 4)
    layouts = [x[::2].permute(p) for p in ((0, 1, 2), (2, 0, 1), (1, 0, 2), (2, 1, 0))]
    layouts += [x[:, :, ::2].permute(1, 0, 2), x[:1].expand(2, 3, 4), x[:, :2, :3]]
    for y in layouts:
        for a in (1, 2, 3, 4, 6, 8, 12, 24):
            for b in (1, 2, 3, 4, 6):
                if y.numel() % (a * b) == 0:
                    shape = (a, b, y.numel() // (a * b))
                    try:
                        y.view(shape)
                    except RuntimeError:
                        assert_view("torch.reshape", y, shape, copies=True)
                    else:
                        assert_view("torch.reshape", y, shape)


def test_reshapes_by_other_names():
    x = LAYOUTS["permuted"]
    assert_view("torch.flatten", x, copies=True)
    assert_view("torch.flatten", BASE, 1)
    assert_view("torch.flatten", BASE, 1, 2)
    assert_view("torch.flatten", BASE, 2, 2)
    assert_view("torch.flatten", torch.tensor(1.0))
    assert_view("torch.ravel", BASE)
    assert_view("torch.unflatten", BASE, 3, (-1, 5))
    assert_view("Tensor.view_as", BASE, torch.ones(6, 20))
    assert_view("Tensor.reshape_as", x, torch.ones(6, 20), copies=True)
    assert_view("Tensor.expand_as", torch.ones(3, 1), torch.ones(2, 3, 5))
    assert_view("Tensor.contiguous", x, copies=True)
    assert captured("Tensor.contiguous", BASE)[0][0] is BASE


@pytest.mark.parametrize("shape", [(7, -1), (-1, -1), (5, 5), (0, -1)])
def test_a_shape_that_does_not_fit_is_refused(shape):
    with pytest.raises(ValueError, match=r"invalid|inferred|infer"):
        captured("torch.reshape", BASE, shape)


class Symbolic:
    """An emitter that records what is emitted on values without data."""

    def __init__(self, dims):
        self.sizes = Sizes(hints=True)
        self.made = []
        self.x = rows.TorchValue(None, TensorType(F32, dims))

    def emit(self, name, *operands, **fields):
        kinds = rows.infer(OPS[name], [v.type for v in operands], fields, self.sizes)
        self.made.append((name, str(kinds[0])))
        return rows.TorchValue(None, kinds[0])


def build(emit, name, *args, **kwargs):
    bound = bind(name, (emit.x, *args), kwargs, lambda v: isinstance(v, rows.TorchValue))
    return bound.build(emit, lambda v: v)


ROWS, COLS = Sym("rows", 6), Sym("cols", 10)


def test_symbolic_sizes_stay_symbolic():
    emit = Symbolic((ROWS, COLS))
    build(emit, "torch.reshape", (-1,))
    build(emit, "torch.reshape", (COLS, -1))
    build(emit, "torch.flatten")
    build(emit, "Tensor.__getitem__", (slice(1, None), None))
    build(emit, "torch.transpose", 0, 1)
    assert [kind for _, kind in emit.made] == [
        "f32[cols*rows]",
        "f32[cols, rows]",
        "f32[cols*rows]",
        "f32[rows - 1, cols]",
        "f32[rows - 1, 1, cols]",
        "f32[cols, rows] order(1,0)",
    ]
    assert [str(fact) for fact in emit.sizes.assumed] == ["cols != 0", "1 <= rows"]


def test_a_division_by_a_size_records_that_it_is_exact():
    emit = Symbolic((ROWS, COLS))
    build(emit, "torch.reshape", (2, -1))
    assert str(emit.made[0][1]) == "f32[2, (cols*rows) // 2]"
    assert [str(fact) for fact in emit.sizes.assumed] == [
        "2*((cols*rows) // 2) == cols*rows",
        "(cols*rows) // 2 != 1",
    ]
    with pytest.raises(ValueError, match="invalid"):
        build(Symbolic((Sym("rows", 3), Sym("cols", 5))), "torch.reshape", (2, -1))


def test_chunks_of_a_symbolic_size_have_one_type_where_it_divides():
    emit = Symbolic((ROWS, COLS))
    pieces = build(emit, "torch.chunk", 2, dim=1)
    assert [str(p.type.dims[1]) for p in pieces] == ["cols // 2"] * 2
    assert "cols % 2 == 0" in map(str, emit.sizes.assumed)
    pieces = build(Symbolic((ROWS, Sym("cols", 7))), "torch.chunk", 2, dim=1)
    assert [str(p.type.dims[1]) for p in pieces] == [
        "(cols + 1) // 2",
        "-1*((cols + 1) // 2) + cols",
    ]


def test_unbinding_a_symbolic_size_is_left_to_torch():
    assert build(Symbolic((ROWS, COLS)), "torch.unbind") is NotImplemented
    assert len(build(Symbolic((3, add(ROWS, 1))), "torch.unbind")) == 3
