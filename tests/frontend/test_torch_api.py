"""One test for each private use of PyTorch: a new version that changes one says which."""

import gc
import weakref

import pytest
import torch
import torch.nn.functional as F

from astjit.frontend import torch_api


class Wrapped(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append((func, args, kwargs or {}))
        return None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("no kernel is run")


seen = []


def made(*shape):
    seen.clear()
    template = torch.empty(*shape)
    device = torch.device("cpu")
    return torch_api.wrapper(Wrapped, template.shape, template.stride(), template.dtype, device)


def hooked(call):
    """The function that the hook is given for a call."""
    seen.clear()
    call()
    return seen[0][0]


def test_a_wrapper_has_the_shape_it_was_given_and_no_memory():
    x = torch_api.wrapper(Wrapped, (2, 3), (1, 2), torch.float16, torch.device("cpu"))
    assert type(x) is Wrapped
    with torch_api.plain_calls():
        assert (x.shape, x.stride(), x.dtype) == ((2, 3), (1, 2), torch.float16)


def test_plain_calls_ask_no_hook_and_no_mode():
    class Mode(torch_api.FunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError("asked")

    x = made(2, 3)
    with Mode(), torch_api.plain_calls():
        assert torch.zeros(3).tolist() == [0.0, 0.0, 0.0]
        assert x.dim() == 2
    assert seen == []


def test_a_mode_sees_factories_and_real_tensors():
    names = []

    class Mode(torch_api.FunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(torch_api.dotted_name(func))
            return func(*args, **(kwargs or {}))

    real = torch.ones(2)
    with Mode():
        torch.zeros(3)
        real * real
        F.softmax(real, -1)
    assert names == ["torch.zeros", "Tensor.mul", "torch.nn.functional.softmax"]


def test_modes_and_transforms_are_counted():
    assert torch_api.count_modes() == 0
    with torch.device("cpu"):
        assert torch_api.count_modes() == 1
    found = []

    def look(x):
        found.append((torch_api.inside_transform(), torch_api.count_modes() > 0))
        return x

    torch.func.vmap(look)(torch.ones(2))
    assert found == [(True, True)]
    assert not torch_api.inside_transform()


def test_the_state_is_plain_without_modes_and_autocast():
    assert torch_api.state_is_plain()
    with torch.autocast("cpu"):
        assert not torch_api.state_is_plain()
    with torch.device("cpu"):
        assert not torch_api.state_is_plain()
    assert torch_api.state_is_plain()


def test_switching_gradients_is_recognised():
    functions = []

    class Mode(torch_api.FunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            functions.append(func)
            return func(*args, **(kwargs or {}))

    with Mode(), torch.no_grad():
        pass
    assert [torch_api.grad_mode(f) for f in functions] == [True, True]
    assert not torch_api.grad_mode(torch.exp)


def test_why_a_tensor_is_not_plain():
    reasons = []
    torch.func.vmap(lambda x: (reasons.append(torch_api.why_not_plain(x)), x)[1])(torch.ones(2))
    assert reasons == ["a tensor inside a function transform"]
    assert torch_api.why_not_plain(torch.ones(2)) == ""
    assert torch_api.why_not_plain(torch.nn.Parameter(torch.ones(2))) == ""
    assert torch_api.why_not_plain(made(2)) == "a tensor subclass, Wrapped"
    sparse = torch.eye(2).to_sparse()
    assert torch_api.why_not_plain(sparse) == "a tensor of layout torch.sparse_coo"
    negated = torch.randn(2, dtype=torch.complex64).conj().imag
    assert torch_api.why_not_plain(negated) == "a tensor with a lazy negation or conjugation"


def test_the_attribute_that_is_read():
    x = made(2)
    assert torch_api.attribute_of(hooked(lambda: x.shape)) == "shape"
    assert torch_api.attribute_of(hooked(lambda: x.T)) == "T"
    assert torch_api.attribute_of(hooked(lambda: x.sum())) is None


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x + 1, "Tensor.add"),
        (lambda x: 1 - x, "Tensor.__rsub__"),
        (lambda x: x**2, "Tensor.__pow__"),
        (lambda x: x @ x, "Tensor.matmul"),
        (lambda x: x[0], "Tensor.__getitem__"),
        (lambda x: -x, "Tensor.neg"),
        (lambda x: ~x, "Tensor.__invert__"),
        (lambda x: x == 1, "Tensor.__eq__"),
        (lambda x: x.softmax(0), "Tensor.softmax"),
        (lambda x: torch.exp(x), "torch.exp"),
        (lambda x: torch.special.expit(x), "torch.special.expit"),
        (lambda x: torch.linalg.vector_norm(x), "torch.linalg.vector_norm"),
        (lambda x: F.gelu(x), "torch.nn.functional.gelu"),
        (lambda x: F.layer_norm(x, (3,)), "torch.nn.functional.layer_norm"),
        (lambda x: torch.einsum("ij->i", x), "torch.einsum"),
    ],
)
def test_functions_are_named_as_users_write_them(call, name):
    x = made(3, 3)
    function = hooked(lambda: call(x))
    assert torch_api.dotted_name(function) == name
    assert eval(name, {"torch": torch, "Tensor": torch.Tensor}) == function


SIGNS = [*"+-*/%@<>&|^", "//", "**", "==", "!=", "<=", ">=", "<<", ">>"]


@pytest.mark.parametrize("sign", SIGNS)
def test_the_methods_behind_operators(sign, monkeypatch):
    x, real = made(2, 2), torch.ones(2, 2, dtype=torch.int32)
    for text in (f"x {sign} 2", f"2 {sign} x") if sign != "@" else ("x @ x",):
        called = hooked(lambda text=text: eval(text, {"x": x}))
        methods = torch_api.operators_of(called.__name__)
        ours = [name for name in methods if hasattr(torch.Tensor, name)]
        with monkeypatch.context() as patch:
            for name in ours:
                patch.setattr(torch.Tensor, name, lambda *args: "ours")
            assert eval(text, {"x": real}) == "ours"


def test_functions_have_no_operator_behind_them():
    assert torch_api.operators_of("exp") == ()


def test_what_is_not_torchs_has_no_name():
    def exp(x):
        return x

    assert torch_api.dotted_name(exp) is None
    assert torch_api.dotted_name([]) is None


def test_names_are_not_kept_for_what_is_the_users():
    def function():
        pass

    kept = dict(torch_api._NAMES)
    held = torch.ones(3)
    for func in (function, [].append, held.add, held.tolist, function.__get__):
        assert torch_api.dotted_name(func) is None
    assert torch_api.dotted_name(torch._C._set_grad_enabled) is None
    assert torch_api.dotted_name(torch.add) == "torch.add"
    added = torch_api._NAMES.keys() - kept.keys()
    assert added <= {torch._C._set_grad_enabled, torch.add}


def test_a_function_of_the_user_is_looked_for_once(monkeypatch):
    def own(x):
        return x

    gone = weakref.ref(own)
    assert torch_api.dotted_name(own) is None
    with monkeypatch.context() as patched:
        patched.setattr(torch_api, "_find", lambda func: pytest.fail("looked for again"))
        assert torch_api.dotted_name(own) is None
    del own
    gc.collect()
    assert gone() is None


def test_registered_operators():
    add = torch.ops.aten.add
    dotted, overloads = torch_api.registered(add)
    assert dotted == "torch.ops.aten.add"
    assert add.Tensor in overloads
    assert torch_api.registered(add.Tensor) == ("torch.ops.aten.add.Tensor", (add.Tensor,))
    assert torch_api.registered(torch.add) is None
    made = torch.library.custom_op(
        "astjit_tests::same", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    assert torch_api.registered(made) == (
        "torch.ops.astjit_tests.same.default",
        (torch.ops.astjit_tests.same.default,),
    )
