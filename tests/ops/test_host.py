import math

import pytest
import torch

from astjit.ops.host import constant_text, host_text, parameters
from astjit.ops.library import Slot
from astjit.ops.spec import Field, FieldKind, Kind, Op, Operand, Rule
from astjit.ops.table import OPS
from astjit.types.dtype import BF16, F64
from astjit.types.shape import Sym, add, mul

RULE = Rule(lambda call: call.types)
X = Operand("input")


def row(torch_name, signature, operands=(X,), fields=(), **more):
    return Op(
        name="row",
        kind=Kind.ELEMENTWISE,
        rule=RULE,
        operands=operands,
        fields=fields,
        torch=(torch_name,),
        signature=signature,
        **more,
    )


@pytest.mark.parametrize(
    ("name", "operands", "fields", "text"),
    [
        ("add", ["x", "1.0"], {}, "x + 1.0"),
        ("sub", ["1.0", "x"], {}, "1.0 - x"),
        ("mul", ["-1.0", "f(x)"], {}, "(-1.0) * f(x)"),
        ("div", ["x + y", "n"], {}, "(x + y) / n"),
        ("neg", ["x"], {}, "-x"),
        ("lt", ["x", "y"], {}, "x < y"),
        ("exp", ["x"], {}, "torch.exp(x)"),
        ("where", ["c", "x", "2.0"], {}, "torch.where(c, x, 2.0)"),
        ("to", ["x"], {"dtype": BF16}, "x.to(torch.bfloat16)"),
        ("sum", ["x"], {"dim": (1,), "keepdim": False, "dtype": None}, "torch.sum(x, (1,))"),
        (
            "sum",
            ["x"],
            {"dim": None, "keepdim": False, "dtype": F64},
            "torch.sum(x, dtype=torch.float64)",
        ),
        (
            "var_mean",
            ["x"],
            {"dim": (0,), "correction": 0, "keepdim": True},
            "torch.var_mean(x, (0,), correction=0, keepdim=True)",
        ),
        ("index_select", ["x", "i"], {"dim": 1}, "torch.index_select(x, 1, i)"),
        ("size", [], {"value": add(mul(2, Sym("a")), 1)}, "2*a + 1"),
    ],
)
def test_texts_of_rows(name, operands, fields, text):
    assert host_text(OPS[name], operands, fields) == text


def test_sizes_are_spelled_by_the_caller():
    fields = {"value": mul(2, Sym("a"))}
    assert host_text(OPS["size"], [], fields, size=lambda d: f"<{d}>") == "<2*a>"


def test_numbers_have_python_s_spelling():
    assert host_text(OPS["where"], ["c", "a + 1", "b"], {}, scalar=True) == "(a + 1) if c else b"
    with pytest.raises(ValueError, match="exp has no text for Python numbers"):
        host_text(OPS["exp"], ["a"], {}, scalar=True)


def library(target, template, *operands):
    return host_text(
        OPS["library"], operands, {"target": target, "template": template, "types": ()}
    )


def test_library_calls_are_filled_templates():
    assert library("torch.sort", ((Slot(0),), {"dim": -1}), "x") == "torch.sort(x, dim=-1)"
    assert library("Tensor.view_as", ((Slot(1), Slot(0)), {}), "x", "y") == "y.view_as(x)"
    nested = ([Slot(0), Slot(1)], (Slot(0),), slice(None, Slot(1)), "a b", BF16, math.inf)
    assert library("f.g", (nested, {"k": {"n": Slot(1)}}), "x", "y") == (
        "f.g([x, y], (x,), slice(None, y, None), 'a b', torch.bfloat16, float('inf'), k={'n': y})"
    )


def test_methods_have_a_receiver():
    take = row("Tensor.take", "input, index, *, out=None", (X, Operand("index")))
    assert host_text(take, ["x + y", "i"], {}) == "(x + y).take(i)"


def test_after_a_default_arguments_are_named():
    fields = (Field("a", FieldKind.INT, 1), Field("b", FieldKind.INT, 2))
    made = row("torch.f", "input, a=1, b=2, *, c=None", fields=fields)
    assert host_text(made, ["x"], {"a": 1, "b": 2}) == "torch.f(x)"
    assert host_text(made, ["x"], {"a": 5, "b": 2}) == "torch.f(x, 5)"
    assert host_text(made, ["x"], {"a": 1, "b": 5}) == "torch.f(x, b=5)"
    assert host_text(made, ["x"], {"a": 3, "b": 5}) == "torch.f(x, 3, 5)"


def test_absent_operands_are_left_out():
    made = row("torch.f", "input, weight=None, bias=None", (X, *(
        Operand(n, optional=True) for n in ("weight", "bias")
    )))  # fmt: skip
    assert host_text(made, ["x", None, None], {}) == "torch.f(x)"
    assert host_text(made, ["x", None, "b"], {}) == "torch.f(x, bias=b)"


def test_variadic_operands_are_a_list():
    made = row("torch.cat", "tensors, dim=0", (Operand("tensors", variadic=True),), (
        Field("dim", FieldKind.INT, 0),
    ))  # fmt: skip
    assert host_text(made, ["x", "y"], {"dim": 1}) == "torch.cat([x, y], 1)"


def test_sizes_of_a_star_are_one_sequence():
    made = row("Tensor.view", "input, *size", fields=(Field("size", FieldKind.SIZES),))
    assert host_text(made, ["x"], {"size": (Sym("a"), 2)}) == "x.view((a, 2))"


def test_what_the_signature_lacks_is_an_error():
    made = row("torch.f", "input", fields=(Field("dim", FieldKind.INT),))
    with pytest.raises(ValueError, match=r"row: the signature \(input\) has no dim"):
        host_text(made, ["x"], {"dim": 1})
    for name in ("if", "load"):
        with pytest.raises(ValueError, match=f"{name} has no host text"):
            host_text(OPS[name], ["x"], {})


def test_constants_are_python():
    value = (1, -0.0, None, True, "it's", [math.nan], {"a": (F64,)}, slice(1, None), ...)
    text = constant_text(value)
    assert text == (
        "(1, -0.0, None, True, \"it's\", [float('nan')], {'a': (torch.float64,)}, "
        "slice(1, None, None), ...)"
    )
    assert eval(text, {"torch": torch})[6] == {"a": (torch.float64,)}


def test_parameters_of_a_signature():
    found = [
        (p.name, p.default, p.variadic, p.keyword) for p in parameters("a, b=1, *c, d, e=None")
    ]
    assert found == [
        ("a", None, False, False),
        ("b", "1", False, False),
        ("c", None, True, False),
        ("d", None, False, True),
        ("e", "None", False, True),
    ]
