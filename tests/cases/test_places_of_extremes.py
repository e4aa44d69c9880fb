"""argmax, argmin, max and min along an axis: one kernel of every kind, eager's ties and NaN."""

from math import inf, nan

import pytest
import torch

import astjit
from tests.ops.targets import Case, on_cpu, on_cuda


def draw(*shape, dtype=torch.float32, seed=0):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3
    return values.round().to(dtype)  # many are equal


SPECIAL = torch.tensor(
    [
        [1, nan, nan, 3.0, -inf, 2],
        [-0.0, 0.0, -1, 0.0, -0.0, -1],
        [0.0, -0.0, 1, 0.0, 1.0, 0.0],
        [-inf, -inf, -inf, -inf, -inf, -inf],
        [inf, 1e-45, inf, -1e-45, 1e-45, inf],
        [1e-45, -1e-45, -0.0, 0.0, 2e-45, -2e-45],
    ]
)


def rows(x):
    return x.argmax(-1), x.argmin(-1), *x.max(-1), *torch.min(x, -1, keepdim=True)


def columns(x):
    return x.argmax(0), x.argmin(0, keepdim=True), *x.max(0, keepdim=True), *torch.min(x, 0)


def middle(x):
    return x.max(1).indices, x.min(1).values


def everything(x):
    return x.argmax()


def kept(x):
    return x.argmin(keepdim=True)


def computed(x):
    h = x * 2
    return h.max(-1), (h - 1).argmin(-1)


def flat(found):
    return [v for part in found for v in (part if isinstance(part, tuple) else (part,))]


def of_computed(x):
    return tuple(flat(computed(x)))


F, B, H = torch.float32, torch.bfloat16, torch.float16
CASES = [
    Case("rows", rows, (draw(7, 37),)),
    Case("special", rows, (SPECIAL,)),
    Case("negated", rows, (-SPECIAL,)),
    Case("brain", rows, (draw(5, 70, dtype=B),)),
    Case("half", rows, (SPECIAL.to(H),)),
    Case("columns", columns, (draw(37, 9),)),
    Case("special_columns", columns, (SPECIAL.t().contiguous(),)),
    Case("brain_columns", columns, (draw(40, 18, dtype=B),)),
    Case("transposed", rows, (draw(37, 9).t(),)),
    Case("middle", middle, (draw(2, 17, 5),)),
    Case("everything", everything, (draw(3, 7, 50),)),
    Case("kept", kept, (draw(3, 400, seed=1),)),
    Case("nan", everything, (SPECIAL,)),
    Case("computed", of_computed, (draw(4, 33),)),
    *(
        Case(f"integers_{d}".split(".")[0], rows, (draw(3, 19).abs().to(getattr(torch, d)),))
        for d in ("int32", "int16", "int8", "uint8")
    ),
    Case("lowest", everything, (torch.tensor([5, -(2**31), 2**31 - 1], dtype=torch.int32),)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_one_kernel(case):
    assert len(case.kernels) == 1


def test_on_the_cpu():
    assert [line for case, found in zip(CASES, on_cpu(CASES), strict=True)
            for line in case.wrong(found, 0)] == []  # fmt: skip


def test_on_cuda():
    assert [line for case, found in zip(CASES, on_cuda(CASES), strict=True)
            for line in case.wrong(found, 0)] == []  # fmt: skip


def test_results_are_named_as_in_eager():
    def f(x):
        found = x.max(1)
        return found, torch.min(x, dim=0), torch.aminmax(x, dim=1), found.indices, x.aminmax()

    x = draw(3, 5)
    for got, want in zip(astjit.compile(f, fullgraph=True)(x), f(x), strict=True):
        assert type(got) is type(want)
        for a, b in zip(flat([got]), flat([want]), strict=True):
            assert torch.equal(a, b)
            assert a.stride() == b.stride()


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_what_is_left_to_pytorch(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    compiled = astjit.compile(lambda x: (x.argmax(-1), *x.max(-1)), fullgraph=True)
    for x in (draw(3, 5).double(), draw(3, 5).long(), torch.tensor(2.0)):
        for got, want in zip(compiled(x), (x.argmax(-1), *x.max(-1)), strict=True):
            assert torch.equal(got, want)
    for x in (draw(3, 0), draw(0), draw(3, 5) > 0):
        with pytest.raises((IndexError, RuntimeError)) as wanted:
            x.argmax(-1)
        with pytest.raises(wanted.type) as raised:
            astjit.compile(lambda x: x.argmax(-1))(x)
        assert str(raised.value) == str(wanted.value)


def test_an_axis_of_one_element():
    """Its index is a literal: 2147483647 * 2 is computed in 64 bits."""
    x = torch.tensor([[0.1], [-0.3], [-0.0], [nan], [2.5]])
    compiled = astjit.compile(lambda x: (*x.max(-1), *x.min(-1)), fullgraph=True)
    for got, want in zip(compiled(x), (*x.max(-1), *x.min(-1)), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
        if got.is_floating_point():
            assert torch.equal(got.nan_to_num().signbit(), want.nan_to_num().signbit())
