"""An optimizer's step written in place is one kernel, its moments bit for bit eager's.

PyTorch's square root of long vectors is not correctly rounded on some CPUs; ours is.
"""

import math

import pytest
import torch

import astjit


def adam(p, g, m, v, step, lr, b1, b2, eps):
    m.lerp_(g, 1 - b1)
    v.mul_(b2).addcmul_(g, g, value=1 - b2)
    denominator = (v.sqrt() / math.sqrt(1 - b2**step)).add_(eps)
    p.addcdiv_(m, denominator, value=-lr / (1 - b1**step))


def adamw(p, g, m, v, lr, decay):
    p.mul_(1 - lr * decay)
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, v.sqrt().add_(1e-8), value=-lr)


def sgd(p, g, m, lr, momentum):
    g = g.add(p, alpha=1e-4)
    m.mul_(momentum).add_(g, alpha=1)
    p.add_(g.add(m, alpha=momentum), alpha=-lr)


STEPS = [
    (adam, 4, (3, 1e-3, 0.9, 0.999, 1e-8)),
    (adamw, 4, (1e-3, 0.01)),
    (sgd, 3, (1e-2, 0.9)),
]


def tensors(count, dtype):
    torch.manual_seed(0)
    return [torch.rand(24, 64).to(dtype) for _ in range(count)]


def assert_same(found, wanted):
    (p, _, *moments), (q, _, *others) = found, wanted
    torch.testing.assert_close(p, q, rtol=2 * torch.finfo(p.dtype).eps, atol=1e-6)
    for a, b in zip(moments, others, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("step", "count", "numbers"), STEPS, ids=["adam", "adamw", "sgd"])
def test_a_step_is_one_kernel(step, count, numbers, dtype):
    compiled = astjit.compile(step, fullgraph=True)
    wanted, found = tensors(count, dtype), tensors(count, dtype)
    for _ in range(2):
        step(*wanted, *numbers)
        compiled(*found, *numbers)
    assert_same(found, wanted)
    report = astjit.explain(compiled, *found, *numbers)
    assert [k.kind for k in report.kernels] == ["pointwise"]
    assert not report.unfused
    assert compiled.cache_info().programs == 1


def test_other_numbers_take_the_same_program():
    compiled = astjit.compile(adamw, fullgraph=True)
    for lr in (1e-3, 0.5, 0.0):
        wanted, found = tensors(4, torch.float32), tensors(4, torch.float32)
        adamw(*wanted, lr, 0.01)
        compiled(*found, lr, 0.01)
        assert_same(found, wanted)
    assert compiled.cache_info().programs == 1
