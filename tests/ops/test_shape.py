"""Where a view row says its elements lie is where torch's view has them."""

import pytest
import torch

from astjit.ops.spec import Call, Kind
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Sizes, Sym, evaluate
from astjit.types.tensor import TensorType
from tests.ops import rows

VIEWS = [op for op in OPS.values() if op.kind is Kind.VIEW]
BASES = [
    torch.arange(12.0).reshape(3, 1, 4),
    torch.arange(12.0).reshape(4, 1, 3).permute(2, 1, 0),
    torch.arange(96.0).reshape(6, 2, 8)[1:4, 1:, 1::2],
    torch.arange(4.0).expand(3, 1, 4),
]


def call_of(op, x, fields):
    filled = {f.name: fields.get(f.name, f.default) for f in op.fields}
    return Call((rows.type_of_tensor(x),), filled, Sizes())


@pytest.mark.parametrize("op", VIEWS, ids=str)
def test_offset_and_strides_find_the_elements(op):
    """The result is as_strided of the source's memory by what the row says."""
    agreed = 0
    for x in BASES:
        x = x[:, 0] if op.name == "diagonal" else x
        for fields in rows.FIELDS[op.name]:
            call = call_of(op, x, fields)
            try:
                (kind,) = op.rule.infer(call)
            except (ValueError, IndexError):
                with pytest.raises((RuntimeError, IndexError)):
                    rows.run(op, [x], fields)
                continue
            (wanted,) = rows.run(op, [x], fields)
            offset = evaluate(op.view.offset(call), {}) + x.storage_offset()
            strides = [evaluate(s, {}) for s in kind.element_strides()]
            assert torch.equal(torch.as_strided(x, kind.dims, strides, offset), wanted)
            rows.assert_type(wanted, kind)
            agreed += 1
    assert agreed >= len(BASES)


@pytest.mark.parametrize("op", VIEWS, ids=str)
def test_axes_say_which_axis_of_the_source_is_walked(op):
    for x in BASES[:3]:
        x = x[:, 0] if op.name == "diagonal" else x
        for fields in rows.FIELDS[op.name]:
            call = call_of(op, x, fields)
            try:
                (kind,) = op.rule.infer(call)
            except (ValueError, IndexError):
                continue
            axes = op.view.axes(call)
            if axes is None:
                assert op.name in ("slice", "select", "select_at", "view", "diagonal")
                continue
            assert len(axes) == kind.rank
            for axis, size in zip(axes, kind.dims, strict=True):
                assert axis is None or x.shape[axis] == size


def test_a_slice_of_a_symbolic_size():
    n = Sym("n", 10)
    sizes = Sizes(hints=True)
    fields = {"dim": 0, "start": 1, "stop": None, "step": 1}
    call = Call((TensorType(F32, (n, 4)),), fields, sizes)
    assert str(OPS["slice"].rule.infer(call)[0]) == "f32[n - 1, 4]"
    assert OPS["slice"].view.offset(call) == 4
    assert [str(fact) for fact in sizes.assumed] == ["1 <= n"]
    call = Call((TensorType(F32, (n, 4)),), {**fields, "start": -2}, sizes)
    assert str(OPS["slice"].rule.infer(call)[0]) == "f32[2, 4]"


def test_an_expand_to_a_symbolic_size():
    n = Sym("n", 10)
    call = Call((TensorType(F32, (1, 4)),), {"size": (n, -1)}, Sizes(hints=True))
    (kind,) = OPS["expand"].rule.infer(call)
    assert str(kind) == "f32[n, 4] strides(0,1)"
    assert OPS["expand"].view.axes(call) == (None, 1)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("permute", {"dims": (0, 0, 1)}),
        ("permute", {"dims": (0, 1)}),
        ("select", {"dim": 0, "index": 3}),
        ("select", {"dim": 3, "index": 0}),
        ("slice", {"dim": 0, "step": 0}),
        ("expand", {"size": (3, 4)}),
        ("expand", {"size": (-1, 3, 1, 4)}),
        ("expand", {"size": (2, 1, 4)}),
        ("unsqueeze", {"dim": 4}),
        ("squeeze", {"dim": (3,)}),
        ("view", {"shape": (5, -1)}),
        ("diagonal", {"dim1": 1, "dim2": 1}),
    ],
)
def test_what_torch_refuses_is_refused(name, fields):
    op, x = OPS[name], BASES[0]
    with pytest.raises((ValueError, IndexError)):
        op.rule.infer(call_of(op, x, fields))
    with pytest.raises((RuntimeError, IndexError)):
        rows.run(op, [x], fields)
