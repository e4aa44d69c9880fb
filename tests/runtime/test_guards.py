import pytest
import torch

from astjit.frontend.reads import Guard, Reads
from astjit.runtime.checks import Bind, Check, guard_lines, reason_lines
from astjit.runtime.guards import Guards
from astjit.runtime.words import Words
from astjit.types.shape import Predicate, Sym
from tests.runtime.made import function, reads_of


def guards(text, **more):
    """(fits(*args), why(*args), guards) of a function given as text."""
    fn = function(text)
    assumed = more.pop("assumed", [])
    fn.assumed = list(assumed)
    reads = reads_of(fn, **more)
    words = Words((*reads.parameters, *reads.constants))
    words.namespace.update(reads.constants)
    made = Guards(fn, reads, words)
    namespace = dict(words.namespace)
    head = f"({', '.join(reads.parameters)}):\n"
    for name, lines in (
        ("fits", guard_lines(made.items, "'MISS'")),
        ("why", reason_lines(made.items)),
    ):
        body = "".join(f"  {line}\n" for line in lines)
        exec(f"def {name}{head}{body}  return ''\n", namespace)

    def fits(*args):
        try:
            return namespace["fits"](*args) == ""
        except Exception:
            return False

    return fits, namespace["why"], made


ONE = "fn f(%x: f32[x0, x1]):\n  return %x"


def test_the_captured_call_fits():
    fits, why, made = guards(ONE)
    assert fits(torch.ones(2, 3))
    assert fits(torch.ones(0, 3))
    assert fits(torch.nn.Parameter(torch.ones(2, 3), requires_grad=False))
    assert why(torch.ones(2, 3)) == ""
    assert made.sizes == {"x0": "x0", "x1": "x1"}


class Odd(torch.Tensor):
    """A subclass may change what any operation means."""


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (3, "x is not a plain tensor"),
        (torch.ones(2, 3).as_subclass(Odd), "x is not a plain tensor"),
        (torch.ones(2, 3).double(), "x is not of dtype float32"),
        (torch.ones(2, 3, device="meta"), "x is not on the CPU"),
        (torch.ones(3, 2).t(), "x is not contiguous"),
        (torch.ones(2, 3, 4), "x has not 2 dims"),
        (torch.ones(2), "x has not 2 dims"),
        (torch.ones(1, 3), "size 0 of x is 1"),
        (torch.ones(2, 1), "size 1 of x is 1"),
        (torch.ones(2, 3).requires_grad_(), "an input requires a gradient"),
    ],
)
def test_what_differs_does_not_fit_and_is_named(other, reason):
    fits, why, _ = guards(ONE)
    assert not fits(other)
    assert why(other) == reason


def test_gradients_matter_only_where_they_are_recorded():
    fits, _, _ = guards(ONE)
    with torch.no_grad():
        assert fits(torch.ones(2, 3).requires_grad_())


def test_an_integer_tensor_has_no_gradient_to_ask_for():
    _, _, made = guards("fn f(%x: i64[x0]):\n  return %x")
    assert "requires_grad" not in "".join(guard_lines(made.items, ""))


def test_literal_and_repeated_sizes():
    fits, why, _ = guards("fn f(%x: f32[x0, 1], %w: f32[4], %y: f32[x0]):\n  return %x")
    good = (torch.ones(3, 1), torch.ones(4), torch.ones(3))
    assert fits(*good)
    assert why(torch.ones(3, 2), *good[1:]) == "size 1 of x is not 1"
    assert why(good[0], torch.ones(5), good[2]) == "size 0 of w is not 4"
    assert why(*good[:2], torch.ones(5)) == "size 0 of y is not x0"


def test_facts_about_sizes():
    a, b = Sym("x0"), Sym("x1")
    facts = [Predicate("==", a, b), Predicate("<", 4, a), Predicate("!=", a, 7)]
    fits, why, made = guards(ONE, assumed=facts)
    assert [fits(torch.ones(n, m)) for n, m in ((5, 5), (5, 6), (4, 4), (7, 7))] == [
        True,
        False,
        False,
        False,
    ]
    assert why(torch.ones(5, 6)) == "not x0 == x1"
    # x1 equals x0, so only one of them is compared with 1
    assert sum(isinstance(i, Check) and i.fails.endswith("== 1") for i in made.items) == 1


def test_another_order_of_axes():
    fits, why, _ = guards("fn f(%x: f32[x0, x1, x2] order(2,0,1)):\n  return %x")
    assert fits(torch.ones(4, 2, 3).permute(1, 2, 0))
    assert not fits(torch.ones(2, 3, 4))
    assert why(torch.ones(2, 3, 4)) == "stride 0 of x is not x1"


def test_axes_of_size_one_have_no_stride_to_compare():
    fits, _, _ = guards("fn f(%x: f32[x0, 1, x2] order(2,1,0)):\n  return %x")
    assert fits(torch.ones(4, 3).as_strided((3, 1, 4), (1, 77, 3)))


def test_the_class_of_a_strided_layout():
    fits, why, made = guards("fn f(%x: f32[x0, x1] strides(s0,s1)):\n  return %x")
    made_hints = torch.ones(6, 12)[::2, ::3]
    assert fits(made_hints)
    assert made.sizes["s0"] == "x_stride0"
    assert why(torch.ones(3, 4)) == "stride 1 of x is 0 or 1"
    assert not fits(torch.ones(1, 4).expand(3, 4)[:, ::2])
    assert why(made_hints.t()) == "the strides of x are ordered otherwise"


def test_fixed_strides_of_a_strided_layout():
    fits, why, _ = guards("fn f(%x: f32[x0, x1] strides(0,1)):\n  return %x")
    assert fits(torch.ones(4).expand(3, 4))
    assert why(torch.ones(3, 4)) == "stride 0 of x is not 0"


def test_a_lazy_negation_is_seen():
    fits, why, _ = guards("fn f(%x: f32[x0] strides(s0)):\n  return %x")
    z = torch.ones(3, dtype=torch.complex64)
    assert fits(z.imag)
    assert why(z.conj().imag) == "x is negated lazily"


def test_numbers_are_guarded_by_type_and_width():
    fits, why, _ = guards("fn f(%x: f32[x0], %n: int, %a: float, %b: bool):\n  return %x")
    x = torch.ones(3)
    assert fits(x, 2**63 - 1, 1.0, True)
    assert why(x, True, 1.0, True) == "n is not a Python int"
    assert why(x, 2**63, 1.0, True) == "n needs more than 64 bits"
    assert why(x, 1, 1, True) == "a is not a Python float"
    assert why(x, 1, 1.0, 1) == "b is not a Python bool"


def test_inputs_by_path():
    text = "fn f(%w = state['w']: f32[w0]):\n  return %w"
    fits, _, made = guards(text, parameters=("state",))
    assert made.items[0] == Bind("w = state['w']")
    assert fits({"w": torch.ones(3)})
    assert not fits({})
    assert not fits({"w": torch.ones(1)})


def test_the_type_of_a_number_is_asked_once():
    text = "fn f(%x: f32[n], %a = cfg['a']: float):\n  return %x"
    same = Guard("type(cfg['a']) is float", "a")
    _, _, made = guards(text, parameters=("x", "cfg"), guards=[same])
    assert "".join(guard_lines(made.items, "")).count("is not float:") == 1


def test_what_was_read_is_asked_again():
    reads = [Guard("outer['scale'] == 2.0", "scale is 2.0"), Guard("type(x) is not int", "x")]
    outer = {"scale": 2.0}
    fits, why, _ = guards(ONE, guards=reads, constants={"outer": outer})
    assert fits(torch.ones(2, 3))
    outer["scale"] = 3.0
    assert not fits(torch.ones(2, 3))
    assert why(torch.ones(2, 3)) == "no longer true: scale is 2.0"


def test_a_size_that_no_input_has_is_refused():
    fn = function(ONE)
    fn.assumed = [Predicate("==", Sym("elsewhere"), 3)]
    with pytest.raises(ValueError, match="no input has the size elsewhere"):
        Guards(fn, Reads(("x",)), Words(["x"]))
