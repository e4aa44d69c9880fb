"""Compiled functions among other tools: each row as with the original, and nothing breaks.

A mode, a transform or a tracer sees what the original does. Tensors that are more than memory run
the original as well.
"""

import copy
import functools
import io
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import astjit
from astjit.errors import AstjitWarning


def scaled(x, w, by=2.0):
    y = F.gelu(x * by) + w
    return y - y.mean(-1, keepdim=True)


def inputs(**options):
    return torch.randn(3, 4, **options), torch.randn(4, **options)


class Logged(torch.Tensor):
    """A subclass that changes what operations mean."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made = super().__torch_function__(func, types, args, kwargs or {})
        return made + 1 if func is F.gelu else made


class CountFunctions(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class CountOperators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def in_default_device(f):
    with torch.device("meta"):
        return f(*inputs(device="cpu")).shape, f(*inputs()).device.type


def with_default_device(f):
    torch.set_default_device("meta")
    try:
        return f(*inputs(device="cpu")).device.type
    finally:
        torch.set_default_device(None)


def with_default_dtype(f):
    first = f(*inputs()).dtype
    torch.set_default_dtype(torch.float64)
    try:
        return first, f(*inputs()).dtype
    finally:
        torch.set_default_dtype(torch.float32)


def on_a_subclass(f):
    x, w = inputs()
    made = f(x.as_subclass(Logged), w)
    return type(made), made.as_subclass(torch.Tensor)


def on_a_parameter(f):
    x, w = inputs()
    return f(x, torch.nn.Parameter(w, requires_grad=False))


def on_fake_tensors(f):
    with FakeTensorMode() as mode:
        made = f(*inputs())
    x, w = (mode.from_tensor(t) for t in inputs())
    return type(made), made.shape, f(x, w).shape


def on_meta_tensors(f):
    return f(*inputs(device="meta")).shape


def on_a_distributed_tensor(f):
    started = not torch.distributed.is_initialized()
    if started:
        store = FakeStore()
        torch.distributed.init_process_group("fake", store=store, rank=0, world_size=2)
    try:
        mesh = DeviceMesh("cpu", [0, 1])
        x, w = torch.ones(4, 4), torch.arange(4.0)
        made = f(distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(w, mesh, [Replicate()]))
        return type(made).__name__, made.placements, made.to_local()
    finally:
        if started:
            torch.distributed.destroy_process_group()


def in_vmap(f):
    x, w = torch.randn(5, 3, 4), torch.randn(4)
    return torch.vmap(f, in_dims=(0, None))(x, w)


def in_grad(f):
    x, w = inputs()
    return torch.func.grad(lambda x: f(x, w).square().sum())(x)


def in_jvp(f):
    x, w = inputs()
    return torch.func.jvp(lambda x: f(x, w), (x,), (torch.ones_like(x),))


def in_jacrev(f):
    x, w = inputs()
    return torch.func.jacrev(lambda w: f(x, w))(w)


def in_forward_ad(f):
    x, w = inputs()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        return tuple(torch.autograd.forward_ad.unpack_dual(f(dual, w)))


def in_functionalize(f):
    return torch.func.functionalize(f)(*inputs())


def in_functional_call(f):
    module = Calls(f)
    x, w = inputs()
    return torch.func.functional_call(module, {"weight": w}, (x,))


class Calls(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f, self.weight = f, torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.f(x, self.weight)


def in_a_function_mode(f):
    with CountFunctions() as mode:
        made = f(*inputs())
    return made, "gelu" in mode.seen


def in_a_dispatch_mode(f):
    with CountOperators() as mode:
        made = f(*inputs())
    return made, "aten.gelu.default" in mode.seen


def with_a_number_of_another_kind(f):
    x, w = inputs()
    return f(x, w, torch.tensor(3)), f(x, w, 3), f(x, w, True), f(x.double(), w, torch.tensor(2.0))


def in_autocast(f):
    x, w = inputs()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return f(x @ x.T, torch.randn(3)), f(x, w).dtype


def in_inference_mode(f):
    x, w = inputs()
    with torch.inference_mode():
        made = f(x, w)
    return made, made.is_inference(), f(x, w).is_inference()


def in_torch_compile(f):
    whole = torch.compile(lambda x, w: f(x, w) + 1, backend="eager", fullgraph=True)
    return whole(*inputs())


def in_torch_compile_under_a_wrapper(f):
    @functools.wraps(f)
    def and_more(*args, **kwargs):
        return f(*args, **kwargs) + 100

    return torch.compile(lambda x, w: and_more(x, w), backend="eager", fullgraph=True)(*inputs())


def in_torch_export(f):
    x, _ = inputs()
    module = Calls(f)
    return torch.export.export(module, (x,)).module()(x)


def in_symbolic_trace(f):
    graph = torch.fx.symbolic_trace(lambda x, w: f(x, w) + 1)
    return graph(*inputs()), [node.op for node in graph.graph.nodes]


def in_make_fx(f):
    x, w = inputs()
    graph = make_fx(lambda x, w: f(x, w))(x, w)
    return graph(x, w), [str(node.target) for node in graph.graph.nodes]


def in_make_fx_with_symbols(f):
    x, w = inputs()
    return make_fx(lambda x, w: f(x, w), tracing_mode="symbolic")(x, w)(x, w)


def in_jit_trace(f):
    x, w = inputs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(lambda x, w: f(x, w), (x, w))
    return traced(x + 1, w)


def in_checkpoint(f):
    x, w = inputs()
    x.requires_grad_()
    made = checkpoint(f, x, w, use_reentrant=False)
    made.square().sum().backward()
    return made.detach(), x.grad


def in_backward(f):
    x, w = inputs()
    w.requires_grad_()
    f(x, w).square().sum().backward()
    return w.grad


def in_copies_of_a_module(f):
    module = Calls(f)
    copies = [copy.deepcopy(module) for _ in range(2)]
    with torch.no_grad():
        copies[1].weight.mul_(3)
        x = torch.ones(2, 4)
        return [m(x) for m in (module, *copies)]


def in_hooks(f):
    seen = []
    module = Calls(f)
    module.register_forward_hook(lambda m, args, out: seen.append(f(out, args[0][0])))
    with torch.no_grad():
        module(torch.ones(2, 4))
    return seen


def on_sparse_and_lazy_tensors(f):
    x, w = inputs()
    lazy = torch.view_as_complex(torch.randn(4, 2)).conj().imag
    return lazy.is_neg(), f(x, lazy), f(torch.eye(4).to_sparse().to_dense(), w)


def with_saved_tensors_hooks(f):
    x, w = inputs()
    w.requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t + 0, lambda t: t):
        return torch.autograd.grad(f(x, w).square().sum(), w)


def in_a_saved_module(f):
    kept = io.BytesIO()
    torch.save(Calls(None).state_dict(), kept)
    kept.seek(0)
    module = Calls(f)
    module.load_state_dict(torch.load(kept))
    with torch.no_grad():
        return module(torch.ones(2, 4))


def in_deterministic_mode(f):
    torch.use_deterministic_algorithms(True)
    try:
        return f(*inputs())
    finally:
        torch.use_deterministic_algorithms(False)


def under_a_profiler(f):
    with torch.autograd.profiler.profile() as found:
        made = f(*inputs())
    return made, found is not None


def in_anomaly_mode(f):
    with torch.autograd.detect_anomaly(check_nan=True):
        return f(*inputs())


ROWS = [
    in_default_device,
    with_default_device,
    with_default_dtype,
    on_a_subclass,
    on_a_parameter,
    on_fake_tensors,
    on_meta_tensors,
    on_a_distributed_tensor,
    in_vmap,
    in_grad,
    in_jvp,
    in_jacrev,
    in_forward_ad,
    in_functionalize,
    in_functional_call,
    in_a_function_mode,
    in_a_dispatch_mode,
    with_a_number_of_another_kind,
    in_autocast,
    in_inference_mode,
    in_torch_compile,
    in_torch_compile_under_a_wrapper,
    in_torch_export,
    in_symbolic_trace,
    in_make_fx,
    in_make_fx_with_symbols,
    in_jit_trace,
    in_checkpoint,
    in_backward,
    in_copies_of_a_module,
    in_hooks,
    on_sparse_and_lazy_tensors,
    with_saved_tensors_hooks,
    in_a_saved_module,
    in_deterministic_mode,
    under_a_profiler,
    in_anomaly_mode,
]


def equal(one, other):
    if isinstance(one, torch.Tensor) and one.device.type != "meta":
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
        return one.dtype == other.dtype and one.stride() == other.stride()
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


@pytest.mark.parametrize("warm", [False, True], ids=["first", "after"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_as_with_the_original(row, warm):
    fast = astjit.compile(scaled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AstjitWarning)
        warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
        warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
        if warm:  # a program is there, and must not be taken
            fast(*inputs())
        torch.manual_seed(0)
        expected = row(scaled)
        torch.manual_seed(0)
        assert equal(row(fast), expected)
    fast(*inputs())  # and afterwards all is as before
    assert fast.cache_info().programs > 0
