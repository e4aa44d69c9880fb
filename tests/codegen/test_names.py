"""Every wish becomes an identifier of C that is no keyword, no helper and nothing else's name."""

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astjit.codegen.emit import cpu_unit, cuda_unit, helper_names
from astjit.codegen.names import Names, identifier
from astjit.fusion.schedule import schedule
from tests.codegen.records import Record

AWKWARD = ("sum", "max", "exp", "tmp0", "n", "i", "row", "col", "j", "v", "mask", "threads", "work")


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("x", "x"), ("x1", "x1"), ("größe", "gruf6udfe"), ("Δt", "u394t"), ("ﬁ", "fi"),
        ("日本", "u65e5u672c"), ("1x", "v_1x"), ("__a__", "a"), ("a__b", "a_b"), ("", "value"),
        ("_", "value"), ("lambda", "v_lambda"), ("x.y", "xu2ey"),
    ],
)  # fmt: skip
def test_identifier(wish, name):
    assert identifier(wish) == name


@pytest.mark.parametrize(
    "word", ["int", "float", "short", "this", "threadIdx", "main", "y0", "min"]
)
def test_words_of_c_are_never_given(word):
    names = Names()
    assert word in names
    assert names.take(word) == word + ("_2" if word[-1].isdigit() else "2")


def test_a_taken_name_gets_a_number_that_does_not_run_into_it():
    names = Names()
    assert [names.take("x") for _ in range(3)] == ["x", "x2", "x3"]
    assert [names.take("tmp0") for _ in range(2)] == ["tmp0", "tmp0_2"]
    assert [Names(["sum"]).take("sum"), Names(["a2"]).take("a")] == ["sum2", "a"]


def test_reserved_names_are_taken_as_they_are():
    names = Names()
    assert names.reserve("int") == "int"
    assert names.reserve("x") == "x"
    assert names.take("x") == "x2"


def test_a_child_sees_its_parent_but_not_the_other_way_round():
    parent = Names(["x"])
    child = parent.child()
    assert child.take("x") == "x2"
    assert child.take("y") == "y"
    assert "y" in child
    assert "y" not in parent
    assert parent.child().take("y") == "y"


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_helpers_are_taken(target):
    names = helper_names(target)
    for helper in ("load", "store", "Sum", "Max"):
        assert helper in names
        assert names.take(helper) == f"{helper}2"


@given(st.lists(st.text(max_size=6) | st.sampled_from(AWKWARD), max_size=12))
def test_names_are_distinct_identifiers(wishes):
    names = Names(["load"])
    made = [names.take(wish) for wish in wishes]
    assert len(set(made)) == len(made)
    for name in made:
        assert re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
        assert "__" not in name
        assert not keyword.iskeyword(name)
        assert name not in ("load", "int", "float")


def pointwise(name):
    """out = name = x + 1; out2 = name * name."""
    rows = ("rows", "cols")
    r = Record(
        "fused",
        "pointwise",
        rows,
        (),
        [(b, "f32", rows, role) for b, role in (("x", "in"), ("out", "out"), ("out2", "out"))],
    )
    value = r.emit("add", r.load("x"), 1.0, name=name)
    r.store("out", r.emit("mul", value, value))
    r.store("out2", r.emit("exp", value))
    return r.kernel()


def row(name):
    """out = x - name with name = sum x, and its exp."""
    r = Record(
        "fused",
        "row",
        ("rows",),
        ("cols",),
        [("x", "f32", ("rows", "cols"), "in"), ("out", "f32", ("rows", "cols"), "out")],
    )
    x = r.load("x")
    total = r.emit("reduce", x, combine="sum")
    value = r.emit("mul", total, 2.0, name=name)
    r.store("out", r.emit("div", r.emit("sub", x, value), value))
    return r.kernel()


LOCAL = re.compile(r"^ *(?:const )?(?:auto|float|int|long|long long|vf) (\w+) = ", re.MULTILINE)


def declared_in_blocks(text):
    """Names declared in each innermost open block, outer ones included: no two may be equal."""
    stack, clashes = [set()], []
    for line in text.splitlines():
        if match := LOCAL.match(line):
            if any(match[1] in scope for scope in stack):
                clashes.append(match[1])
            stack[-1].add(match[1])
        for char in line:
            if char == "{":
                stack.append(set())
            if char == "}" and len(stack) > 1:
                stack.pop()
    return clashes


@pytest.mark.parametrize(
    "name", [*AWKWARD, "x", "x_v", "out_row", "row_start", "float", "vf", "größe"]
)
@pytest.mark.parametrize("make", [pointwise, row])
def test_a_user_variable_of_any_name_hides_nothing(name, make):
    kernel = make(name)
    sizes = {"rows": 2, "cols": 64}
    cpu = cpu_unit([(kernel, schedule(kernel, "cpu", sizes, 16))], lambda _: "", "g++")
    cuda = cuda_unit([(kernel, schedule(kernel, "cuda", sizes, 16))], lambda _: "", "sm_90")
    for target, text in (("cpu", cpu.kernels), ("cuda", cuda.kernels)):
        assert declared_in_blocks(text) == []
        helpers = helper_names(target)
        locals_ = LOCAL.findall(text)
        assert not [d for d in locals_ if d in helpers]
        assert [d for d in locals_ if d.startswith(identifier(name))], text
