"""Rules of meta functions against PyTorch's meta functions and its kernels."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch
import torch.nn.functional as F

from astjit.frontend import meta_rules
from astjit.frontend.meta_shapes import Refused
from astjit.frontend.torch_api import dotted_name


def r(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


def ints(*shape):
    return torch.zeros(shape, dtype=torch.int64)


def rnn(gates, layers=1, *, both=False, first=False, projected=0, bias=True, states=1):
    """Arguments of torch.lstm and its kind for 5 steps, 3 rows, 4 features, 6 hidden numbers."""
    out, width, weights = projected or 6, 4, []
    for _ in range(layers):
        for _ in range(1 + both):
            weights += [r(gates * 6, width), r(gates * 6, out)]
            weights += [r(gates * 6), r(gates * 6)] if bias else []
            weights += [r(out, 6)] if projected else []
        width = out * (1 + both)
    kept = [r(layers * (1 + both), 3, out), r(layers * (1 + both), 3, 6)][:states]
    x = r(3, 5, 4) if first else r(5, 3, 4)
    state = tuple(kept) if states == 2 else kept[0]
    return (x, state, weights, bias, layers, 0.0, False, both, first)


Q, IMAGE, ROWS, MASK = r(2, 3, 5, 8), r(2, 4, 9, 7), r(3, 5), r(2, 1, 5, 5, dtype=torch.bool)
WIDE = r(2, 5, 3, 8).transpose(1, 2)  # as attention is given its heads
CASES = [
    (F.scaled_dot_product_attention, (Q, Q, Q), {}),
    (F.scaled_dot_product_attention, (WIDE, WIDE, WIDE), {"is_causal": True}),
    (F.scaled_dot_product_attention, (Q, r(2, 3, 6, 8), r(2, 3, 6, 4)), {"scale": 0.5}),
    (F.scaled_dot_product_attention, (Q, Q, Q, MASK), {}),
    (F.scaled_dot_product_attention, (Q, Q, Q, r(5, 5)), {}),
    (torch.lstm, rnn(4, states=2), {}),
    (torch.lstm, rnn(4, 2, both=True, first=True, states=2), {}),
    (torch.lstm, rnn(4, 2, projected=2, states=2), {}),
    (torch.lstm, rnn(4, 2, both=True, projected=2, bias=False, states=2), {}),
    (torch.gru, rnn(3, 3, both=True), {}),
    (torch.gru, rnn(3, bias=False, first=True), {}),
    (torch.rnn_tanh, rnn(1, 2), {}),
    (torch.rnn_relu, rnn(1, both=True, first=True), {}),
    (F.conv2d, (IMAGE, r(6, 4, 3, 2), r(6)), {"stride": 2, "padding": (1, 0)}),
    (F.conv2d, (IMAGE, r(6, 2, 1, 1)), {"groups": 2, "dilation": 2}),
    (F.conv2d, (r(2, 4, 1, 1), r(6, 4, 1, 1), r(6)), {}),
    (F.conv2d, (r(1, 1, 9, 7), r(1, 1, 3, 3)), {}),
    (F.conv1d, (r(2, 4, 9), r(6, 4, 3), r(6)), {"padding": 1}),
    (F.conv3d, (r(2, 4, 5, 5, 5), r(6, 4, 3, 3, 3)), {}),
    (F.conv2d, (IMAGE, r(6, 4, 3, 3)), {"padding": "valid", "stride": 2}),
    (F.conv2d, (IMAGE, r(6, 4, 3, 5)), {"padding": "same", "dilation": 2}),
    (F.conv1d, (r(2, 4, 9), r(6, 4, 5), r(6)), {"padding": "same"}),
    (F.conv_transpose1d, (r(2, 4, 9), r(4, 6, 3), r(6)), {"stride": 2, "output_padding": 1}),
    (F.conv_transpose2d, (IMAGE, r(4, 3, 2, 3), r(6), (2, 1), (1, 0), 0, 2), {"dilation": (1, 2)}),
    (F.conv_transpose3d, (r(2, 4, 3, 4, 2), r(4, 5, 2, 2, 2)), {}),
    (F.max_pool2d, (IMAGE, 2), {}),
    (F.max_pool2d, (IMAGE, 2), {"ceil_mode": True}),
    (F.max_pool2d, (IMAGE, 3, 4, 1, 2, True), {}),
    (F.max_pool2d, (IMAGE, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "dilation": 2}),
    (F.max_pool1d, (r(2, 4, 9), 3), {}),
    (F.avg_pool2d, (IMAGE, 3, 2, 1), {}),
    *((F.avg_pool2d, (r(1, 1, n, n), 2, 3, 1), {"ceil_mode": True}) for n in range(1, 9)),
    (F.adaptive_avg_pool2d, (IMAGE, 1), {}),
    (F.adaptive_avg_pool2d, (IMAGE, (2, None)), {}),
    (F.batch_norm, (IMAGE, r(4), r(4), r(4), r(4)), {}),
    (F.batch_norm, (ROWS, r(5), r(5)), {"training": False}),
    (F.group_norm, (IMAGE, 2, r(4), r(4)), {}),
    (F.embedding, (ints(2, 3), r(7, 5)), {}),
    (F.cross_entropy, (ROWS, ints(3)), {}),
    (F.cross_entropy, (r(3, 5, 2), ints(3, 2)), {"reduction": "sum"}),
    (torch.mm, (r(3, 4), r(4, 5)), {}),
    (torch.bmm, (r(2, 3, 4), r(2, 4, 5)), {}),
    (torch.addmm, (r(5), r(3, 4), r(4, 5)), {"alpha": 2}),
    (torch.Tensor.baddbmm, (r(1, 3, 5), r(2, 3, 4), r(2, 4, 5)), {}),
    (torch.cumsum, (ROWS, 1), {}),
    (torch.Tensor.cumsum, (ints(2, 3), -1), {}),
    (torch.cumprod, (ints(2, 3), 0), {"dtype": torch.float32}),
    (torch.tril, (r(2, 3, 5), 1), {}),
    (torch.triu, (ROWS,), {}),
    (torch.flip, (r(2, 3, 5), (0, -1)), {}),
    (torch.Tensor.flip, (ROWS, 0, 1), {}),
    (torch.roll, (ROWS, 2, 1), {}),
    (torch.roll, (ROWS, (1, -2), (0, -1)), {}),
    (torch.Tensor.roll, (ints(2, 3), 1), {}),
    (torch.gather, (ROWS, 1, ints(3, 2)), {}),
    (torch.gather, (ROWS, 0, ints(2, 4)), {}),
    (torch.argmax, (ROWS,), {}),
    (torch.argmin, (ROWS, -1), {"keepdim": True}),
    (torch.topk, (ROWS, 2), {}),
    (torch.sort, (ROWS,), {"descending": True}),
    (torch.sort, (ROWS, 0), {}),
    (F.one_hot, (ints(2, 3), 4), {}),
    (torch.Tensor.repeat, (ROWS, 2, 1, 3), {}),
    (torch.Tensor.repeat, (ROWS, (2, 2)), {}),
    # one element at a time
    (F.elu, (ROWS,), {"inplace": False}),
    (F.celu, (ROWS, 2.0), {}),
    (torch.atan2, (ROWS, r(2, 1, 5)), {}),
    (torch.erfinv, (ints(2, 3),), {}),
    (torch.lerp, (ROWS, r(5), 0.5), {}),
    (torch.addcmul, (ROWS, r(3, 1), r(5)), {"value": 2}),
    (torch.hypot, (r(3, 5).double(), r(5)), {}),
    (torch.hypot, (r(5, 3).t(), r(5, 3).t()), {}),
    (torch.hypot, (r(2, 5, 3).permute(0, 2, 1), r(3, 5)), {}),
    (torch.nextafter, (r(4, 1, 3).permute(2, 0, 1), r(3, 4, 6)), {}),
    (torch.Tensor.square, (r(2, 3, 5)[:, :, ::2],), {}),
    (torch.nan_to_num, (r(3, 5)[:, 1:],), {}),
    (torch.special.erfcx, (r(2, 3),), {}),
]


def meta(value):
    if isinstance(value, torch.Tensor):
        strides = value.stride()
        return torch.empty_strided(value.shape, strides, dtype=value.dtype, device="meta")
    return type(value)(map(meta, value)) if type(value) in (tuple, list) else value


def layout(value):
    """Type, shape and strides of a result; strides of axes without steps mean nothing."""
    if not isinstance(value, torch.Tensor):
        return [layout(part) for part in value]
    pairs = zip(value.shape, value.stride(), strict=True)
    return value.dtype, tuple(value.shape), [s for n, s in pairs if n > 1]


def refuse(*args, **kwargs):
    raise AssertionError("PyTorch's own function was asked")


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("at", range(len(CASES)))
def test_a_rule_says_what_the_meta_function_and_the_kernel_say(at, monkeypatch):
    func, args, kwargs = CASES[at]
    name = dotted_name(func)
    given = meta(args)
    with torch.no_grad(), torch._C.DisableTorchFunction():
        promised, real = func(*given, **kwargs), func(*args, **kwargs)
        if meta_rules._is_pointwise(name):
            asked = func  # once, on one element
            monkeypatch.setattr(meta_rules, "Other", AssertionError)
        else:
            asked = refuse
        found = meta_rules.run(name, asked, given, kwargs, guess=True)
    assert layout(found) == layout(promised)
    if func is not F.scaled_dot_product_attention:  # trials.py lays its results as the kernel does
        assert layout(found) == layout(real)
    assert isinstance(found, torch.Tensor) or type(found) is type(real)


UNFIT = [
    (F.scaled_dot_product_attention, (Q, r(2, 3, 5, 7), Q), {}),
    (F.scaled_dot_product_attention, (Q, Q, Q, r(5, 6)), {}),
    (torch.gru, (r(5, 3, 9), *rnn(3)[1:]), {}),
    (torch.gru, (r(5, 7, 4), *rnn(3)[1:]), {}),
    (F.conv2d, (IMAGE, r(6, 3, 3, 3)), {}),
    (F.conv2d, (IMAGE, r(6, 4, 10, 3)), {}),
    (F.max_pool2d, (IMAGE, 8), {}),
    (F.batch_norm, (IMAGE, r(5), r(5)), {}),
    (F.group_norm, (IMAGE, 3), {}),
    (F.cross_entropy, (ROWS, ints(4)), {}),
    (torch.mm, (r(3, 4), r(5, 5)), {}),
    (torch.bmm, (r(2, 3, 4), r(3, 4, 5)), {}),
    (torch.addmm, (r(4), r(3, 4), r(4, 5)), {}),
    (torch.gather, (ROWS, 1, ints(4, 2)), {}),
    (torch.topk, (ROWS, 6), {}),
    (torch.atan2, (ROWS, r(4)), {}),
]


@pytest.mark.parametrize("at", range(len(UNFIT)))
def test_sizes_that_do_not_fit_are_refused_as_the_kernel_refuses_them(at):
    func, args, kwargs = UNFIT[at]
    name = dotted_name(func)
    with torch.no_grad(), torch._C.DisableTorchFunction():
        with pytest.raises((RuntimeError, ValueError)):
            func(*args, **kwargs)
        with pytest.raises(Refused):
            meta_rules.run(name, func, meta(args), kwargs, guess=True)
        with pytest.raises((RuntimeError, ValueError)) as error:
            meta_rules.run(name, func, meta(args), kwargs, guess=False)
        assert not isinstance(error.value, Refused)  # PyTorch's own words


OTHER = [
    (F.batch_norm, (IMAGE, r(4), r(4)), {"training": True}),
    (F.conv_transpose2d, (IMAGE, r(4, 3, 2, 3)), {"padding": 5}),
    (F.conv_transpose2d, (IMAGE, r(3, 4, 2, 2)), {}),
    (torch.roll, (r(5, 3).t(), 1, 0), {}),
    (F.group_norm, (IMAGE.to(memory_format=torch.channels_last), 2), {}),
    (torch.arange, (0.0, 1.0, 0.5), {"device": "meta"}),
    (torch.frexp, (ROWS,), {}),
    (F.elu, (ROWS, 1.0, True), {}),
    (torch.where, (ROWS > 0,), {}),
]


@pytest.mark.parametrize("at", range(len(OTHER)))
def test_what_a_rule_does_not_know_is_asked_of_pytorch(at):
    func, args, kwargs = OTHER[at]
    seen = []

    def asked(*args, **kwargs):
        if (
            not any(isinstance(a, torch.Tensor) and a.is_meta for a in args)
            and "device" not in kwargs
        ):
            return func(*args, **kwargs)  # on one element
        seen.append(args)
        raise LookupError

    with torch.no_grad(), torch._C.DisableTorchFunction(), pytest.raises(LookupError):
        meta_rules.run(dotted_name(func), asked, meta(args), kwargs, guess=False)
    assert len(seen) == 1


@pytest.mark.parametrize("ends", [(5,), (2, 9), (1, 9, 3), (9, 1, -2), (3, 3)])
def test_lengths_of_ranges(ends):
    made = meta_rules.run("torch.arange", refuse, ends, {"device": "meta"}, guess=False)
    assert (tuple(made.shape), made.dtype) == (tuple(torch.arange(*ends).shape), torch.int64)


def test_capturing_models_loads_no_compiler_of_pytorch(tmp_path):
    """One process of its own: the modules stay loaded."""
    text = """
        import sys, torch, torch.nn as nn, torch.nn.functional as F, astjit

        @astjit.compile
        def work(x, ids, table, image, kernel, mean, mask):
            h = F.embedding(ids, table) + x
            h = F.scaled_dot_product_attention(h, h, h, attn_mask=mask)
            h = torch.bmm(h, h.transpose(1, 2)).cumsum(-1)
            i = F.conv2d(image, kernel, padding=1)
            i = F.elu(F.max_pool2d(F.batch_norm(i, mean, mean), 2))
            return h, i, torch.topk(h, 2), torch.arange(x.shape[1])

        def leaves(value):
            if isinstance(value, torch.Tensor):
                return [value]
            return [leaf for part in value for leaf in leaves(part)]

        lstm = nn.LSTM(8, 6, 2, batch_first=True).eval()
        fast = astjit.compile(lstm)
        with torch.no_grad():
            for rows in (4, 16):
                x, ids = torch.randn(2, rows, 8), torch.zeros(2, rows, dtype=torch.int64)
                image = torch.randn(2, 3, 8, 2 * rows)
                given = (x, ids, torch.randn(9, 8), image, torch.randn(4, 3, 3, 3),
                         torch.ones(4), torch.ones(rows, rows, dtype=torch.bool))
                pairs = zip(leaves(work(*given)), leaves(work.__wrapped__(*given)), strict=True)
                assert all(torch.allclose(a, b, atol=1e-5) for a, b in pairs)
                pairs = zip(leaves(fast(x)), leaves(lstm(x)), strict=True)
                assert all(torch.allclose(a, b, atol=1e-5) for a, b in pairs)
        for info in (work.cache_info(), fast.cache_info()):
            assert info.programs == 1, info
        loaded = [m for m in ("torch._dynamo", "sympy") if m in sys.modules]
        assert not loaded, loaded
    """
    path = tmp_path / "models.py"
    path.write_text(textwrap.dedent(text))
    given = {**os.environ, "CXX": "/nonexistent"}
    done = subprocess.run([sys.executable, path], capture_output=True, env=given)
    assert done.returncode == 0, done.stderr.decode()
