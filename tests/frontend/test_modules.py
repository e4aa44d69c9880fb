"""Calls of modules: hooks in PyTorch's order, parts by path, what stops."""

import pytest
import torch
from torch import nn

from astjit.frontend.modules import forward_hooks, hooks_of_all, how_called, pre_hooks
from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def apply(module, x):
    return module(x)


X = torch.linspace(-1, 1, 6).reshape(2, 3)


def test_parts_are_inputs_by_path():
    with torch.no_grad():
        captured = Captured(apply, nn.Sequential(nn.Linear(3, 3)), X)
    paths = [param.path for param in captured.function.params]
    assert paths[1:] == [
        "module._modules['0']._parameters['weight']",
        "module._modules['0']._parameters['bias']",
    ]


def test_hooks_come_in_order_with_how_they_are_called():
    module = nn.Linear(3, 3)
    hooks = [lambda *args: None for _ in range(3)]
    module.register_forward_hook(hooks[0], with_kwargs=True)
    module.register_forward_hook(hooks[1], prepend=True, always_call=True)
    module.register_forward_pre_hook(hooks[2], with_kwargs=True)
    assert [hook.function for hook in forward_hooks(module)] == [hooks[1], hooks[0]]
    assert how_called(forward_hooks(module)) == ((False, True), (True, False))
    assert [hook.function for hook in pre_hooks(module)] == [hooks[2]]
    assert not hooks_of_all()


def test_a_hook_changes_the_result_and_fails_the_guards():
    with torch.no_grad():
        module = nn.Linear(3, 3)
        plain = Captured(apply, module, X)
        module.register_forward_hook(lambda m, args, y: y + args[0])
        assert plain.failing(module, X)
        hooked = Captured(apply, module, X)
        torch.testing.assert_close(hooked.run(module, X), module(X))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.register_full_backward_hook(lambda *args: None), "has backward hooks"),
        (lambda m: setattr(m, "_compiled_call_impl", m.forward), "compiled in place"),
        (
            lambda m: m.register_forward_pre_hook(lambda *args: 1, with_kwargs=True),
            "a forward pre-hook that returns something else",
        ),
    ],
)
def test_modules_that_stop(change, reason):
    module = nn.Linear(3, 3)
    change(module)
    with torch.no_grad(), pytest.raises(Stop, match=reason):
        Captured(apply, module, X)
