"""A compiled module is called as the module, and is the module in everything else."""

import copy
import io
import pickle
import warnings

import pytest
import torch
from torch import nn

import astjit
from astjit.errors import UsageError
from astjit.runtime.module import CompiledModule, caller


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch; warnings about anything else are errors."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


class Model(nn.Module):
    """A small model with a method and an attribute besides."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.count = 3

    def again(self, x):
        """Calls itself."""
        return self(x) + self.count

    def forward(self, x, scale=2.0):
        """Scaled."""
        return torch.relu(self.norm(self.fc(x))) * scale


def made():
    torch.manual_seed(0)
    module = Model().eval()
    return module, astjit.compile(module)


X = torch.linspace(-2, 2, 24).reshape(4, 6)


def test_a_call_is_one_program():
    module, compiled = made()
    for rows in (4, 3, 2):
        torch.testing.assert_close(compiled(X[:rows]), module(X[:rows]))
        torch.testing.assert_close(compiled(X[:rows], scale=3.0), module(X[:rows], scale=3.0))
    assert compiled.cache_info().programs == 2  # scale given or not
    assert isinstance(compiled, CompiledModule)
    assert isinstance(compiled, nn.Module)


def test_what_is_read_is_the_modules():
    module, compiled = made()
    assert compiled.fc is module.fc
    assert compiled.count == 3
    assert compiled.training is False
    assert compiled.forward == module.forward
    assert [*compiled.state_dict()] == [*module.state_dict()]
    for names in ("parameters", "buffers", "modules", "children"):
        ours, theirs = [*getattr(compiled, names)()], [*getattr(module, names)()]
        assert all(a is b for a, b in zip(ours, theirs, strict=True))
    for names in ("named_parameters", "named_buffers", "named_modules", "named_children"):
        assert [k for k, _ in getattr(compiled, names)()] == [
            k for k, _ in getattr(module, names)()
        ]
    assert repr(compiled) == repr(module)
    assert vars(compiled) is vars(module)
    assert compiled.__doc__ == Model.__doc__
    assert {"fc", "again", "cache_info"} <= set(dir(compiled))
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'nothing'"):
        _ = compiled.nothing


def test_what_is_set_is_set_on_the_module():
    module, compiled = made()
    compiled.count, compiled.extra = 5, "new"
    compiled.fc = nn.Linear(6, 6)
    compiled.register_buffer("kept", torch.zeros(1))
    assert (module.count, module.extra) == (5, "new")
    assert compiled.fc is module.fc
    assert "kept" in module.state_dict()
    del compiled.extra
    assert not hasattr(module, "extra")
    torch.testing.assert_close(compiled(X), module(X))


def test_methods_that_return_the_module_return_the_compiled_one():
    module, compiled = made()
    for change in (
        compiled.train,
        compiled.eval,
        compiled.double,
        compiled.float,
        lambda: compiled.to(torch.float64),
        lambda: compiled.requires_grad_(False),
        lambda: compiled.apply(lambda m: None),
    ):
        assert change() is compiled
    assert module.fc.weight.dtype is torch.float64
    torch.testing.assert_close(compiled(X.double()), module(X.double()))


def test_state_is_loaded_and_followed():
    module, compiled = made()
    before = compiled(X)
    result = compiled.load_state_dict({k: v * 2 for k, v in module.state_dict().items()})
    assert result.missing_keys == result.unexpected_keys == []
    torch.testing.assert_close(compiled(X), module(X))
    assert not torch.equal(compiled(X), before)
    file = io.BytesIO()
    torch.save(compiled.state_dict(), file)
    file.seek(0)
    Model().load_state_dict(torch.load(file))


def test_hooks():
    module, compiled = made()
    plain = compiled(X)
    handle = compiled.register_forward_hook(lambda m, args, y: y + 1 if m is module else None)
    torch.testing.assert_close(compiled(X), plain + 1)
    handle.remove()
    torch.testing.assert_close(compiled(X), plain)
    assert compiled.cache_info().programs == 2


def test_train_and_eval():
    module, compiled = made()
    other = copy.deepcopy(module)
    for mode in (False, True, False):
        compiled.train(mode)
        other.train(mode)
        torch.testing.assert_close(compiled(X), other(X))
    torch.testing.assert_close(compiled.state_dict(), other.state_dict())


def test_methods_of_the_module_call_the_module():
    module, compiled = made()
    torch.testing.assert_close(compiled.again(X), module(X) + 3)
    torch.testing.assert_close(astjit.compile(module.again)(X), module(X) + 3)


def test_copies():
    module, compiled = made()
    compiled(X)
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert isinstance(other, CompiledModule)
        assert other.fc.weight is not module.fc.weight
        torch.testing.assert_close(other(X), module(X))
        assert other.cache_info().programs == 1
    shallow = copy.copy(compiled)
    assert shallow.fc is module.fc
    assert shallow.__wrapped__ is not module


def test_a_compiled_module_inside_another():
    module, compiled = made()
    outer = nn.Sequential(compiled, nn.Tanh())
    assert [*outer.state_dict()] == [f"0.{key}" for key in module.state_dict()]
    assert len([*outer.parameters()]) == 4
    whole = astjit.compile(outer)
    torch.testing.assert_close(whole(X), torch.tanh(module(X)))
    assert whole.cache_info().programs == 1
    module.fc.weight.data = module.fc.weight * 2
    module.fc.bias = None
    torch.testing.assert_close(whole(X), torch.tanh(module(X)))
    outer.train()
    assert module.training
    clone = copy.deepcopy(outer)
    torch.testing.assert_close(clone.eval()(X), outer.eval()(X))


def test_functions_look_into_a_compiled_module():
    module, compiled = made()
    f = astjit.compile(lambda m, x: m(x) + m.fc.weight.sum() * m.count)
    torch.testing.assert_close(f(compiled, X), module(X) + module.fc.weight.sum() * 3)
    compiled.count = 4
    torch.testing.assert_close(f(compiled, X), module(X) + module.fc.weight.sum() * 4)
    assert f.cache_info().programs == 1


def test_containers_keep_their_special_methods():
    compiled = astjit.compile(nn.Sequential(nn.Linear(6, 6), nn.ReLU()))
    assert len(compiled) == 2
    assert isinstance(compiled[1], nn.ReLU)
    assert [type(m) for m in compiled] == [nn.Linear, nn.ReLU]
    assert isinstance(compiled, CompiledModule)
    assert not hasattr(CompiledModule, "__len__")
    compiled.append(nn.Tanh())
    torch.testing.assert_close(compiled(X), compiled.__wrapped__(X))


def test_what_became_of_a_call():
    _, compiled = made()
    assert compiled.ssa(X).startswith("fn Model(")
    assert "relu" in compiled.ssa(X)
    assert "__global__" in compiled.cuda_source(X)
    assert "Model" in compiled.cpp_source(X)
    assert "def Model" in compiled.program_source(X)
    assert "self.norm.training" in compiled.guards(X) or "training" in compiled.guards(X)
    assert "Model on cpu" in str(compiled.explain(X))
    assert str(astjit.explain(compiled, X)) == str(compiled.explain(X))
    assert str(astjit.explain(compiled.__wrapped__, X)) == str(compiled.explain(X))
    assert compiled.cache_info().programs == 0
    compiled(X)
    assert compiled.cache_info().programs == 1
    compiled.cache_clear()
    assert compiled.cache_info().programs == 0


def test_compiled_again():
    module, compiled = made()
    again = astjit.compile(compiled, fullgraph=True)
    assert again is not compiled
    assert again.__wrapped__ is module


def test_a_class_of_modules_is_refused():
    with pytest.raises(UsageError, match="Model is a class of modules"):
        astjit.compile(Model)


def test_a_module_that_cannot_be_captured_whole_is_compiled_in_parts():
    class Printing(nn.Module):
        def forward(self, x):
            print(end="")
            return x + 1

    module = Printing()
    compiled = astjit.compile(module)
    assert torch.equal(compiled(X), X + 1)
    assert compiled.cache_info().programs == 1
    with pytest.raises(astjit.UnsupportedOp):
        astjit.compile(module, fullgraph=True)(X)


def test_gradients_run_eagerly():
    _, compiled = made()
    with torch.enable_grad():
        compiled(X).sum().backward()
    assert compiled.fc.weight.grad is not None


def test_the_function_that_calls():
    module, _ = made()
    function = caller(module)
    assert function.__name__ == "Model"
    assert function.__doc__ == "Scaled."
    assert torch.equal(function(module, X, scale=1.0), module(X, scale=1.0))
