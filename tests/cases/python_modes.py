"""Functions that switch torch's modes on their way, one function a row."""

import torch


@torch.no_grad()
def decorated_no_grad(t):
    return t * 2, torch.is_grad_enabled()


@torch.enable_grad()
def decorated_enable_grad(t):
    return t * 2, torch.is_grad_enabled()


def no_grad_inside(x):
    with torch.no_grad():
        y = x * 2
        off = torch.is_grad_enabled()
    return y + 1, off, torch.is_grad_enabled()


def enable_grad_inside(x):
    with torch.enable_grad():
        y = x * 2
        on = torch.is_grad_enabled()
    return y, on, torch.is_grad_enabled()


def set_grad_enabled_inside(x, flag):
    with torch.set_grad_enabled(flag):
        y = x * 2
        seen = torch.is_grad_enabled()
    with torch.set_grad_enabled(mode=not flag):
        z = x + 1
    return y, z, seen


def modes_nested(x):
    seen = []
    with torch.no_grad():
        with torch.enable_grad():
            seen.append(torch.is_grad_enabled())
            with torch.no_grad(), torch.set_grad_enabled(True):
                seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    return x * 2, seen


def modes_as_decorators(x):
    a, off = decorated_no_grad(x)
    b, on = decorated_enable_grad(a)
    return b, off, on, torch.is_grad_enabled()


def decorated_inside_the_function(x):
    @torch.no_grad()
    def inner(t):
        return t * 2, torch.is_grad_enabled()

    return inner(x)


def no_grad_left_by_an_exception(x):
    try:
        with torch.no_grad():
            raise KeyError("out")
    except KeyError:
        return x * 2, torch.is_grad_enabled()


def manager_kept_in_a_variable(x):
    manager = torch.no_grad()
    with manager:
        y = x * 2
    with manager:
        return y + 1, torch.is_grad_enabled()


def set_grad_enabled_as_a_call(x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(not before)
    seen = torch.is_grad_enabled()
    torch.set_grad_enabled(before)
    return x * 2, seen
