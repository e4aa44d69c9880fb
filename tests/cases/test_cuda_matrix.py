"""CUDA kernels executed: dtypes by awkward sizes, layouts and values, under the checked emulator.

All buffers stand between red zones, and launches take the three orders in turn.
"""

import itertools
from functools import cache

import pytest
import torch

import astjit
from tests.emulator.machine import EmulatedDriver, posing

pytestmark = pytest.mark.slow  # a minute, most of it the compiler's

FLOATS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
WHOLE = {"i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool}
LAYOUTS = ("dense", "offset", "strided")
ROWS = 3  # and 19 for rows so short that a block has several


def scaled(x, y):
    return x * 2 + y, x < y


def spread(x):
    low, high = x.amin(-1, keepdim=True), x.amax(-1)
    return x - low, high


def normal(x):
    return torch.softmax(x, -1), x.sum(-1)


def counted(x, y):
    return torch.where(x > y, x, y), x == y


def extremes(x):
    return x.amax(-1), x.amin(-1)


def truths(x, y):
    return x & ~y, x.any(-1), y.all(-1, keepdim=True)


KINDS = {
    **{(f.__name__, d): f for f in (scaled, spread, normal) for d in FLOATS},
    **{(f.__name__, d): f for f in (counted, extremes) for d in ("i64", "i32", "u8")},
    ("truths", "bool"): truths,
}


def sizes(dtype):
    """1, around a warp, around a vector, around a tile of a block, a long row."""
    vector = min(8, 16 // dtype.itemsize)
    tile = 32 * vector
    return sorted({1, 31, 32, 33, vector - 1, vector + 1, tile - 1, tile, tile + 1, 4097} - {0})


def awkward(x):
    """A row of NaNs, one of -inf, one that starts with inf; denormals, and equal extremes."""
    if x.dtype.is_floating_point:
        x[0] = float("nan")
        x[1] = float("-inf")
        x[2:, :1] = float("inf")
        x[2:, 1::3] = torch.finfo(x.dtype).smallest_normal / 4
    elif x.dtype is not torch.bool:
        x[:, ::2] = torch.iinfo(x.dtype).max
        x[:, 1::2] = torch.iinfo(x.dtype).min
    return x


def made(dtype, cols, layout, special):
    rows = 19 if cols < 64 else ROWS
    values = torch.randn(rows, cols, dtype=torch.float64) * 5
    x = values > 0 if dtype is torch.bool else values.abs() if dtype is torch.uint8 else values
    x = awkward(x.to(dtype)) if special else x.to(dtype)
    if layout == "offset":
        return torch.empty(x.numel() + 1, dtype=dtype)[1:].view(rows, cols).copy_(x)
    return torch.stack((x, x), -1)[..., 0] if layout == "strided" else x


def arguments(function, dtype):
    """The inputs of all calls: every size, with one layout and awkward values in turn."""
    count = function.__code__.co_argcount
    for at, cols in enumerate(sizes(dtype)):
        for layout in LAYOUTS if cols in (31, 32) else (LAYOUTS[at % 2],):
            torch.manual_seed(cols)
            yield [made(dtype, cols, layout, at % 2 and number == 0) for number in range(count)]


def run_all(driver):
    """The results of all calls by function and dtype, and what was said about its launches."""
    results, said = {}, {}
    with torch.no_grad(), posing(driver):
        for (name, kind), function in KINDS.items():
            dtype = {**FLOATS, **WHOLE}[kind]
            compiled = astjit.compile(function, target="cuda", fullgraph=True)
            before = len(driver.launches)
            given = list(arguments(function, dtype))
            results[name, kind] = [(inputs, compiled(*inputs)) for inputs in given]
            said[name, kind] = driver.launches[before:]
            assert len(said[name, kind]) >= len(given)
    return results, said


@cache
def executed():
    notes = EmulatedDriver(executes=False)
    run_all(notes)
    notes.compile_all()
    return run_all(EmulatedDriver())


def holds(got, want, inputs, exact):
    """Bit-equal where eager's arithmetic is exact, else as near as a few of its roundings."""
    if exact:
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
        return
    unit = torch.finfo(want.dtype).eps
    finite = [t[t.isfinite()].abs() for t in inputs]
    largest = max((float(t.max()) for t in finite if t.numel()), default=1.0)
    terms = inputs[0].shape[-1] if got.dim() == 1 else 4
    atol = unit * largest * max(4, terms / 8)
    torch.testing.assert_close(got, want, rtol=8 * unit, atol=atol, equal_nan=True)


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_values(name, kind):
    for inputs, results in executed()[0][name, kind]:
        wants = KINDS[name, kind](*inputs)
        for got, want in zip(results, wants, strict=True):
            holds(got, want, inputs, name != "normal")


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_memory(name, kind):
    launches = executed()[1][name, kind]
    assert [launched.errors for launched in launches if launched.errors] == []
    assert not any(itertools.chain(*(launched.unwritten.values() for launched in launches)))
