"""Modules in compiled functions: each way to change one is followed, alike ones share programs."""

import copy
import functools
import warnings
from dataclasses import dataclass

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

import astjit


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch; warnings about anything else are errors."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


@dataclass
class Options:
    """What a module is made with."""

    width: int = 6
    act: str = "relu"
    scale: float = 2.0


class Layer(nn.Module):
    """A layer with a configuration, a property, a buffer and a method."""

    def __init__(self, options):
        super().__init__()
        self.options = options
        self.fc = nn.Linear(options.width, options.width)
        self.norm = nn.LayerNorm(options.width, eps=1e-5)
        self.register_buffer("shift", torch.arange(float(options.width)))

    @property
    def scale(self):
        """From the configuration."""
        return self.options.scale

    def act(self, x):
        """The activation."""
        return torch.relu(x) if self.options.act == "relu" else torch.tanh(x)

    def forward(self, x):
        y = self.act(self.fc(x)) * self.scale + self.shift
        return x + self.norm(y) if self.training else self.norm(y)


class Stack(nn.Module):
    """Alike layers in a list."""

    def __init__(self, count=3, **options):
        super().__init__()
        self.layers = nn.ModuleList(Layer(Options(**options)) for _ in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def apply(module, x):
    return module(x)


def data(rows=4, width=6):
    torch.manual_seed(rows)
    return torch.randn(rows, width)


def agree(compiled, module, *args):
    """The compiled function gives what the module gives."""
    torch.testing.assert_close(compiled(module, *args), module(*args), rtol=1e-5, atol=1e-6)


def set_hook(module):
    return module.layers[0].register_forward_hook(lambda m, args, y: y * 2)


def hook_with_kwargs(module):
    def hook(m, args, kwargs, y):
        return y + len(args) + len(kwargs)

    return module.layers[1].register_forward_hook(hook, with_kwargs=True, always_call=True)


def pre_hook(module):
    return module.layers[2].fc.register_forward_pre_hook(lambda m, args: args[0] + 1)


def pre_hook_with_kwargs(module):
    def hook(m, args, kwargs):
        return (args[0] * 3,), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)


def replace_forward(module):
    module.layers[0].forward = lambda x: x * 5


def replace_class(module):
    class Doubled(Layer):
        def forward(self, x):
            return super().forward(x) * 2

    module.layers[1].__class__ = Doubled


def swap_data(module):
    module.layers[0].fc.weight.data = torch.ones(6, 6)


def hide_parameter(module):
    module.layers[0].fc.__dict__["weight"] = torch.ones(6, 6)


CHANGES = {
    "eps": lambda m: setattr(m.layers[1].norm, "eps", 0.5),
    "a parameter": lambda m: setattr(m.layers[0].fc, "weight", nn.Parameter(torch.ones(6, 6))),
    "no bias": lambda m: setattr(m.layers[0].fc, "bias", None),
    "a buffer": lambda m: setattr(m.layers[2], "shift", torch.zeros(6)),
    "a layer": lambda m: m.layers.__setitem__(1, nn.Tanh()),
    "one more layer": lambda m: m.layers.append(Layer(Options())),
    "one less layer": lambda m: m.layers.__delitem__(0),
    "a module inside a layer": lambda m: setattr(m.layers[0], "norm", nn.Identity()),
    ".data": swap_data,
    "in place": lambda m: m.layers[0].fc.weight.mul_(2),
    "load_state_dict": lambda m: m.load_state_dict(Stack().state_dict()),
    "load_state_dict assign": lambda m: m.load_state_dict(Stack().state_dict(), assign=True),
    "eval": lambda m: m.eval(),
    "a layer's eval": lambda m: m.layers[1].eval(),
    "requires_grad_": lambda m: m.requires_grad_(False),
    "a value of the configuration": lambda m: setattr(m.layers[0].options, "scale", 7.0),
    "a word of the configuration": lambda m: setattr(m.layers[0].options, "act", "tanh"),
    "another configuration": lambda m: setattr(m.layers[0], "options", Options(scale=0.5)),
    "a forward hook": set_hook,
    "a forward hook with kwargs": hook_with_kwargs,
    "a pre-hook": pre_hook,
    "a pre-hook with kwargs": pre_hook_with_kwargs,
    "forward of the object": replace_forward,
    "__class__": replace_class,
    "a parameter hidden by an attribute": hide_parameter,
    "shared": lambda m: setattr(m.layers[0].fc, "weight", m.layers[1].fc.weight),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_followed(change):
    compiled, module = astjit.compile(apply), Stack()
    agree(compiled, module, data())
    change(module)
    agree(compiled, module, data())
    agree(compiled, module, data(7))
    assert compiled.cache_info().programs <= 3


def test_to_another_dtype_is_followed():
    compiled, module = astjit.compile(apply), Stack()
    agree(compiled, module, data())
    module.double()
    agree(compiled, module, data().double())


@pytest.mark.parametrize("register", [set_hook, pre_hook, hook_with_kwargs, pre_hook_with_kwargs])
def test_a_hook_that_is_removed_is_forgotten(register):
    compiled, module = astjit.compile(apply), Stack()
    plain = compiled(module, data())
    handle = register(module)
    hooked = compiled(module, data())
    assert not torch.equal(hooked, plain)
    torch.testing.assert_close(hooked, module(data()))
    handle.remove()
    torch.testing.assert_close(compiled(module, data()), plain)
    assert compiled.cache_info().programs == 2


def test_hooks_of_all_modules():
    compiled, module = astjit.compile(apply), Stack()
    agree(compiled, module, data())
    forward = nn.modules.module.register_module_forward_hook(lambda m, args, y: y + 1)
    try:
        agree(compiled, module, data())
        before = nn.modules.module.register_module_forward_pre_hook(lambda m, args: args[0] * 2)
        try:
            agree(compiled, module, data())
        finally:
            before.remove()
    finally:
        forward.remove()
    agree(compiled, module, data())


def test_the_order_of_hooks_and_what_they_get():
    class Two(nn.Module):
        def forward(self, x, *, by):
            return x * by

    def doubled(m, args, kwargs):
        return args, {"by": kwargs["by"] * 2}

    module = Two()
    module.register_forward_pre_hook(doubled, with_kwargs=True)
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    module.register_forward_hook(lambda m, args, kwargs, y: (y, kwargs["by"]), with_kwargs=True)
    module.register_forward_hook(lambda m, args, y: None)
    compiled = astjit.compile(lambda m, x: m(x, by=3.0))
    x = data()
    got, want = compiled(module, x), module(x, by=3.0)
    assert torch.equal(got[0], want[0])
    assert got[1] == want[1] == 6.0
    assert compiled.cache_info().programs == 1


def test_instances_and_alike_layers_share_a_program():
    compiled = astjit.compile(apply)
    for module in (Stack(), Stack(), copy.deepcopy(Stack())):
        agree(compiled, module, data())
    assert compiled.cache_info().programs == 1


def test_layers_of_one_stack_share_a_program():
    compiled, stack = astjit.compile(apply), Stack(12)
    for layer in stack.layers:
        agree(compiled, layer, data())
    assert compiled.cache_info().programs == 1


def test_another_value_of_eps_is_no_other_program():
    compiled, module = astjit.compile(apply), Stack()
    for eps in (1e-5, 1e-3, 0.1):
        module.layers[0].norm.eps = eps
        agree(compiled, module, data())
    assert compiled.cache_info().programs == 1


class Containers(nn.Module):
    """Every container, read in every way."""

    def __init__(self):
        super().__init__()
        self.sequence = nn.Sequential(nn.Linear(6, 6), nn.ReLU())
        self.named = nn.ModuleDict({"a": nn.Linear(6, 6), "b": nn.Tanh()})
        self.weights = nn.ParameterList([nn.Parameter(torch.full((6,), float(i))) for i in (1, 2)])
        self.table = nn.ParameterDict({"w": nn.Parameter(torch.full((6,), 3.0))})
        self.plain = [nn.Linear(6, 6)]

    def forward(self, x):
        x = self.sequence(x) + self.sequence[0](x) + len(self.sequence)
        for name, module in self.named.items():
            x = module(x) + len(name)
        for key in self.named:
            x = self.named[key](x)
        for i, weight in enumerate(self.weights):
            x = x * weight + i
        x = x + self.weights[-1] * self.table["w"]
        if "b" in self.named and "c" not in self.named:
            x = x + 1
        return self.plain[0](x)


def test_containers():
    compiled, module = astjit.compile(apply), Containers()
    agree(compiled, module, data())
    module.weights[1] = nn.Parameter(torch.full((6,), 9.0))
    agree(compiled, module, data())
    module.table["w"] = nn.Parameter(torch.full((6,), -1.0))
    agree(compiled, module, data())
    module.named["c"] = nn.Sigmoid()
    agree(compiled, module, data())
    module.plain[0] = nn.Tanh()
    agree(compiled, module, data())


def test_iteration_over_parts():
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])
            self.register_buffer("b", torch.ones(6))

        def forward(self, x):
            for module in self.modules():
                if isinstance(module, nn.Linear):
                    x = x + module.weight.sum(0)
            for name, weight in self.named_parameters():
                if name.endswith("bias"):
                    x = x * weight
            for child in self.layers.children():
                x = child(x)
            for buffer in self.buffers():
                x = x + buffer
            return x

    compiled, module = astjit.compile(apply), Parts()
    agree(compiled, module, data())
    assert compiled.cache_info().programs == 1
    module.layers.append(nn.Linear(6, 6))
    agree(compiled, module, data())
    module.layers[1].bias = module.layers[0].bias  # now named once
    agree(compiled, module, data())
    module.layers[1] = module.layers[0]
    agree(compiled, module, data())


def test_shared_weights():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(9, 6), nn.Linear(6, 9, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(self.embed(ids))

    compiled, module, ids = astjit.compile(apply), Tied(), torch.tensor([[1, 2], [3, 4]])
    agree(compiled, module, ids)
    module.head.weight = nn.Parameter(torch.ones(9, 6))
    agree(compiled, module, ids)
    assert compiled.cache_info().programs == 2


def test_parametrizations():
    class Symmetric(nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).transpose(-1, -2)

    compiled, module = astjit.compile(apply), nn.Linear(6, 6)
    agree(compiled, module, data())
    parametrize.register_parametrization(module, "weight", Symmetric())
    agree(compiled, module, data())
    parametrize.remove_parametrizations(module, "weight")
    agree(compiled, module, data())
    assert compiled.cache_info().programs == 2


def test_weight_norm():
    compiled, module = astjit.compile(apply), parametrizations.weight_norm(nn.Linear(6, 6))
    agree(compiled, module, data())
    module.parametrizations.weight.original0.mul_(2)
    agree(compiled, module, data())
    assert compiled.cache_info().programs == 1


def test_getattr_of_a_class_falls_back_to_an_inner_module():
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Layer(Options())

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(super().__getattr__("inner"), name)

        def forward(self, x):
            return self.fc(x) + self.shift

    compiled, module = astjit.compile(apply), Wrapper()
    agree(compiled, module, data())
    module.fc = nn.Linear(6, 6)
    agree(compiled, module, data())
    assert compiled.cache_info().programs == 2


def test_a_call_method_of_the_class():
    class Called(nn.Linear):
        def __call__(self, x):
            return super().__call__(x) * 2

    compiled, module = astjit.compile(apply), Called(6, 6)
    agree(compiled, module, data())
    module.register_forward_hook(lambda m, args, y: y + 1)
    agree(compiled, module, data())


KEPT = [Layer(Options())]


def test_modules_reached_in_other_ways():
    inner = Layer(Options())
    ways = [
        lambda x: inner(x),
        lambda x: KEPT[0](x),
        lambda x, m={"a": inner}: m["a"](x),
        functools.partial(apply, inner),
        inner.act,
        inner.forward,
    ]
    for way in ways:
        compiled = astjit.compile(way)
        torch.testing.assert_close(compiled(data()), way(data()))
        inner.fc.weight = nn.Parameter(torch.ones(6, 6))
        torch.testing.assert_close(compiled(data()), way(data()))


def test_compile_on_forward():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 6)

        @astjit.compile
        def forward(self, x):
            return torch.relu(self.fc(x)) + 1

    module = Model()
    want = torch.relu(module.fc(data())) + 1
    torch.testing.assert_close(module(data()), want)
    torch.testing.assert_close(Model.forward(module, data()), want)
    assert Model.forward.cache_info().programs == 1
    torch.testing.assert_close(astjit.compile(apply)(module, data()), want)


def test_modules_that_run_eagerly():
    class Maker(nn.Module):
        def forward(self, x):
            return nn.Linear(6, 6, bias=False)(x) * 0

    backward = Layer(Options())
    backward.register_full_backward_hook(lambda m, before, after: None)
    compiled = astjit.compile(apply)
    with pytest.warns(astjit.AstjitWarning, match="has backward hooks"):
        got = compiled(backward, data())
    torch.testing.assert_close(got, backward(data()))
    compiled = astjit.compile(apply)
    assert torch.equal(compiled(Maker(), data()), Maker()(data()))
    assert compiled.cache_info().programs == 1  # of the module that was made


def test_a_hook_that_is_always_called_sees_the_exception():
    seen = []

    class Failing(nn.Module):
        def forward(self, x):
            raise KeyError("no")

    module = Failing()
    module.register_forward_hook(lambda m, args, y: seen.append(y), always_call=True)

    def guarded(m, x):
        try:
            return m(x)
        except KeyError:
            return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.equal(astjit.compile(guarded)(module, data()), data() + 1)
    assert seen == [None]
