"""Calls of nn.Module objects during capture, as torch.nn.Module.__call__ does them.

layer(x)      =>    forward pre-hooks, layer.forward(x), forward hooks

The hooks of a module are its own and those registered for all modules. The usual module has none,
which is one guard; hooks are called through the capture like any function. `forward` is rewritten
where it is written in Python, torch's own modules included, so that what it reads is guarded.
"""

from typing import NamedTuple

import torch
from torch.nn.modules import module as of_all

from astjit.frontend.attributes import attribute
from astjit.frontend.builtin_calls import Args, Kwargs
from astjit.frontend.session import Session
from astjit.frontend.stops import Stop

Module = torch.nn.Module
_BACKWARD = ("_backward_hooks", "_backward_pre_hooks")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", *_BACKWARD)


class Hook(NamedTuple):
    """A hook, in the order in which a call meets it.

    Attributes:
        function: what is called.
        with_kwargs: it is given the arguments by name as well.
        always: it is called after an exception as well.
    """

    function: object
    with_kwargs: bool
    always: bool


def pre_hooks(module: Module) -> tuple[Hook, ...]:
    """What a call of a module runs before `forward`."""
    every = [Hook(hook, False, False) for hook in of_all._global_forward_pre_hooks.values()]
    named = module._forward_pre_hooks_with_kwargs
    own = module._forward_pre_hooks.items()
    return (*every, *(Hook(hook, key in named, False) for key, hook in own))


def forward_hooks(module: Module) -> tuple[Hook, ...]:
    """What a call of a module runs after `forward`."""
    named = {**of_all._global_forward_hooks_with_kwargs, **module._forward_hooks_with_kwargs}
    always = {**of_all._global_forward_hooks_always_called, **module._forward_hooks_always_called}
    hooks = (*of_all._global_forward_hooks.items(), *module._forward_hooks.items())
    return tuple(Hook(hook, key in named, key in always) for key, hook in hooks)


def how_called(hooks: tuple[Hook, ...]) -> tuple[tuple[bool, bool], ...]:
    """How each hook is called."""
    return tuple((hook.with_kwargs, hook.always) for hook in hooks)


def hooks_of_all() -> bool:
    """Whether hooks are registered for all modules."""
    return bool(
        of_all._global_forward_hooks
        or of_all._global_forward_pre_hooks
        or of_all._global_backward_hooks
        or of_all._global_backward_pre_hooks
    )


def call_module(session: Session, module: Module, args: Args, kwargs: Kwargs) -> object:
    """`module(*args, **kwargs)`: a class may define `__call__` itself.

    Raises:
        Stop: if the module was reached without a path.
    """
    if session.outside.path(module) is None:
        raise Stop(f"a call of a {type(module).__name__} that was reached without a path")
    method = type(module).__call__
    if class_path := session.class_path(type(module)):
        session.outside.read(method, f"{class_path}.__call__")
    return session.call(method, module, *args, **kwargs)


def call_torch(session: Session, module: Module, *args: object, **kwargs: object) -> object:
    """What torch.nn.Module.__call__ does.

    Raises:
        Stop: for backward hooks, and for a module compiled in place by `module.compile()`.
    """
    path = session.outside.path(module)
    if path is None:
        raise Stop(f"a call of a {type(module).__name__} that was reached without a path")
    if module._compiled_call_impl is not None:
        raise Stop(f"{path} was compiled in place by its method compile()")
    guard, every = session.capture.guard, session.outside.constant("hooks_of_all", hooks_of_all)
    compiled = f"{path}._compiled_call_impl"
    guard(f"{compiled} is None", f"{path} was not compiled in place")
    forward = attribute(session, module, "forward")
    if not hooks_of_all() and not any(getattr(module, name) for name in _HOOKS):
        guard(f"not {every}()", "no hook is registered for all modules")
        found = " or ".join(f"{path}.{name}" for name in _HOOKS)
        guard(f"not ({found})", f"{path} has no hooks")
        return session.call(forward, *args, **kwargs)
    _refuse_backward(session, module, path)
    return _hooked(session, _Called(session, module, path), forward, args, kwargs)


def _refuse_backward(session: Session, module: Module, path: str) -> None:
    """Backward hooks do nothing while no gradient is recorded; still they are not captured."""
    if any(getattr(module, name) for name in _BACKWARD) or of_all._global_backward_hooks:
        raise Stop(f"{path} has backward hooks")
    found = " or ".join(f"{path}.{name}" for name in _BACKWARD)
    session.capture.guard(f"not ({found})", f"{path} has no backward hooks")


class _Called:
    """The hooks of one call.

    Args:
        session: the capture.
        module: what is called.
        path: how it is reached.
    """

    def __init__(self, session: Session, module: Module, path: str) -> None:
        self.session, self.module, self.path = session, module, path

    def hooks(self, find: "object") -> list[tuple[object, Hook]]:
        """The hooks that `find` gives, each with the function as capture calls it."""
        made: tuple[Hook, ...] = find(self.module)  # type: ignore[operator]
        outside, guard = self.session.outside, self.session.capture.guard
        finder = outside.constant(find.__name__, find)  # type: ignore[attr-defined]
        shown = f"{finder}({self.path})"
        how = outside.constant("how_called", how_called)
        flags = how_called(made)
        guard(f"{how}({shown}) == {flags!r}", f"{self.path} has {len(flags)} {find.__name__}")  # type: ignore[attr-defined]
        return [
            (outside.read(hook.function, f"{shown}[{i}].function"), hook)
            for i, hook in enumerate(made)
        ]


def _hooked(
    session: Session, called: _Called, forward: object, args: Args, kwargs: Kwargs
) -> object:
    module = called.module
    after = called.hooks(forward_hooks)
    try:
        for function, hook in called.hooks(pre_hooks):
            args, kwargs = _before(session, function, hook, module, args, kwargs)
        result = session.call(forward, *args, **kwargs)
        for function, hook in after:
            given = (args, kwargs, result) if hook.with_kwargs else (args, result)
            made = session.call(function, module, *given)
            result = result if made is None else made
    except Exception:
        if any(hook.always for _, hook in after):
            raise Stop(f"a hook of {called.path} is called after an exception") from None
        raise
    return result


def _before(
    session: Session, function: object, hook: Hook, module: Module, args: Args, kwargs: Kwargs
) -> tuple[Args, Kwargs]:
    """The arguments after one pre-hook."""
    if not hook.with_kwargs:
        made = session.call(function, module, args)
        if made is None:
            return args, kwargs
        return made if isinstance(made, tuple) else (made,), kwargs
    both = session.call(function, module, args, kwargs)
    if both is None:
        return args, kwargs
    if not isinstance(both, tuple) or len(both) != 2:
        raise Stop("a forward pre-hook that returns something else than arguments")
    return both
