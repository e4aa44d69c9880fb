"""Functions that are not captured whole: compiled around what stays Python, equal to eager.

Each row is called three times; values, effects and their order, aliasing and exceptions are those
of the function as written, and the number of programs says how much of it was compiled.
"""

import contextlib
import copy
import inspect
import logging
import re
import runpy
import traceback
import types
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import astjit
from tests.programs.compare import Observed, difference, raised

SEEN, KEPT, TABLE = [], [], {"n": 0}
FACTOR = 2.0


def note(*what):
    """An effect that no capture takes."""
    print(*what, file=Sink())


class Sink:
    def write(self, text):
        SEEN.append(text)


class Layer(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale, self.calls = scale, 0

    def forward(self, x):
        y = x * self.scale
        self.calls += 1
        return torch.tanh(y) + 1


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(0.5) for _ in range(12)])

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x)
            note(number)
        return x * 2


ROWS = []


def row(programs):
    """A function of x and y, with how many programs its calls make."""
    return lambda function: ROWS.append((function, programs)) or function


@row(2)
def a_print_in_the_middle(x, y):
    a = x * 2
    b = a + y
    note("half", tuple(b.shape))
    return (b * a).sum(0)


@row(2)
def a_number_read_from_a_tensor(x, y):
    a = (x + y).sum()
    n = a.item()
    return x * n + y


@row(1)
def a_counter_and_a_store(x, y):
    a = x * 2
    TABLE["n"] = TABLE["n"] + 1
    KEPT.append(a)
    return a + y


@row(3)
def three_statements_apart(x, y):
    a = x * 2
    note("one")
    b = a + y
    note("two")
    return b - a


@row(0)
def views_of_what_is_given(x, y):
    a = x[1:]
    note("views")
    a.mul_(2)
    return a, x


@row(2)
def written_in_two_parts(x, y):
    x.add_(1)
    note(float(x.sum()))
    x.mul_(y)
    return x


@row(1)
def a_condition_on_a_tensor(x, y):
    if (x * y).sum() > 3:  # noqa: SIM108
        y = y + x
    else:
        y = (y - x) * 2
    return y * 2


@row(3)
def arms_with_reductions(x, y):
    if (x * y).sum() > 3:  # noqa: SIM108
        y = y + x.mean()
    else:
        y = (y - x).softmax(-1) * 2
    return y * 2


@row(2)
def a_loop_with_a_print(x, y):
    for i in range(4):
        x = x * 0.5 + i
        note(i)
    return x + y


@row(1)
def a_loop_that_ends_by_a_tensor(x, y):
    n = 0
    while (x - y).abs().sum() > 1 and n < 9:
        x = (x + y) * 0.5
        n += 1
        if x.sum() > 100:
            break
    return x, n


@row(2)
def a_handler_that_reads_a_name(x, y):
    a = x
    try:
        a = x * 2
        b = a.view(7)
        a = b * 3
    except RuntimeError:
        note("caught")
        return a + 1
    return a


@row(2)
def a_manager_of_ones_own(x, y):
    with contextlib.suppress(ValueError):
        x = x * 2
        note("inside")
        raise ValueError("swallowed")
    return x + y


@row(2)
def without_gradients(x, y):
    with torch.no_grad():
        a = x * 2
        b = a + 1
        note(float(b.sum()))
        c = b * a
    return c


@row(2)
def statements_that_never_run(x, y):
    n = x.dim() + 1
    if y.sum() > 1:
        note("large")
    try:
        raise ValueError("by hand")
        n = n + 1
    except ValueError:
        note("caught")
    return x * y


def loud(x, by=2.0):
    y = x * by
    note("loud")
    return y + 1


@row(2)
def a_callee_that_prints(x, y):
    return loud(loud(x), by=3.0) + y


def descend(x, n):
    if n == 0:
        return x
    note(n)
    return descend(x * 0.5, n - 1) + 1


@row(0)
def recursion_with_a_print(x, y):
    return descend(x, 4)


@row(3)
def closures_see_their_variables(x, y):
    k = x * 2
    scaled = lambda v: v * k  # noqa: E731
    note("lambda")
    k = k + 1
    return scaled(y)


@row(1)
def a_variable_of_an_outer_function(x, y):
    count = 0

    def bump(v):
        nonlocal count
        count += 1
        return v * 2

    a = bump(x) + y
    note(count)
    return bump(a) * count, count


@row(2)
def a_list_between_parts(x, y):
    parts = []
    for i in range(3):
        parts.append(x * i)
        note(len(parts))
    return torch.stack(parts).sum(0), parts


@row(2)
def a_global_that_changes_between_parts(x, y):
    global FACTOR
    a = x * FACTOR
    note("before")
    FACTOR = 3.0
    b = a * FACTOR
    note("after")
    FACTOR = 2.0
    return b


@row(2)
def a_name_bound_on_one_path(x, y):
    if x.sum() > 0:
        z = x * 2
    note("z?")
    return z


@row(1)
def an_exception_after_an_effect(x, y):
    a = x * 2
    note("so far")
    b = a + y
    return b.view(7, 7)


def observed(function, arguments):
    """What a call returns, raises and leaves."""
    seen = Observed()
    SEEN.clear(), KEPT.clear(), TABLE.update(n=0)
    try:
        seen.look("result", function(*arguments))
    except Exception as error:
        seen.facts["result"] = raised(error, __file__)
    seen.look("arguments", list(arguments))
    seen.look("seen", [list(SEEN), list(KEPT), dict(TABLE)])
    return seen


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch: what is tested is their meaning."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "kernels run")
        warnings.filterwarnings("ignore", ".*runs eagerly")
        yield


def inputs(rows=2):
    return torch.arange(rows * 3.0).view(rows, 3) / 4, torch.ones(3)


@pytest.mark.parametrize(("function", "programs"), ROWS, ids=[f.__name__ for f, _ in ROWS])
def test_row(function, programs):
    compiled = astjit.compile(function)
    for rows in (2, 4, 2):
        eager, ours = observed(function, inputs(rows)), observed(compiled, inputs(rows))
        found = difference(eager, ours)
        assert found is None, str(found)
    assert compiled.cache_info().programs == programs


def test_a_print_in_a_loop_of_twelve_layers_is_one_program():
    chain = Chain()
    compiled = astjit.compile(copy.deepcopy(chain))
    for rows in (2, 5):
        x, _ = inputs(rows)
        assert torch.equal(compiled(x), chain(x))
    info = compiled.cache_info()
    assert info.programs <= 4  # two of the layer's, and what follows the loop
    assert [layer.calls for layer in compiled.layers] == [layer.calls for layer in chain.layers]


def test_what_is_compiled_is_found_again_at_the_next_call():
    compiled = astjit.compile(three_statements_apart)
    for _ in range(4):
        compiled(*inputs())
    info = compiled.cache_info()
    assert (info.programs, info.misses, info.respecialised) == (3, 3, 0)
    assert info.hits >= 3 * 3
    compiled.cache_clear()
    assert compiled.cache_info().programs == 0
    compiled(*inputs())
    assert compiled.cache_info().programs == 3


def test_exceptions_show_the_users_lines():
    compiled = astjit.compile(an_exception_after_an_effect)
    with pytest.raises(RuntimeError) as caught:
        compiled(*inputs())
    shown = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    lines, first = inspect.getsourcelines(an_exception_after_an_effect)
    assert {f.name for f in shown[1:]} == {"an_exception_after_an_effect"}
    assert shown[-1].lineno == first + len(lines) - 1
    assert shown[-1].line == "return b.view(7, 7)"


def nothing_to_compile(x, y):
    note("only")
    return x


def seeing(x, y):
    z = x * 2
    return sorted(locals()), z


@pytest.mark.parametrize(
    ("function", "reason"),
    [(nothing_to_compile, r"print\(\) is an effect"), (seeing, r"locals\(\)")],
)
def test_one_warning_where_nothing_is_compiled(function, reason):
    compiled = astjit.compile(function)
    with pytest.warns(astjit.AstjitWarning, match=reason):
        ours = observed(compiled, inputs())
    assert difference(observed(function, inputs()), ours) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert difference(ours, observed(compiled, inputs())) is None


def test_fullgraph_raises_where_it_would_be_cut():
    compiled = astjit.compile(a_print_in_the_middle, fullgraph=True)
    for _ in range(2):
        with pytest.raises(astjit.UnsupportedOp, match=r"print\(\) is an effect"):
            compiled(*inputs())


def test_the_log_says_what_is_cut(caplog):
    with caplog.at_level(logging.INFO, "astjit.segments"):
        astjit.compile(a_print_in_the_middle)(*inputs())
    assert "a_print_in_the_middle: cut, because print() is an effect" in caplog.text
    assert "a_print_in_the_middle.segment_1: program 0, because new" in caplog.text


def asked(x, y):
    note(astjit.is_compiling())
    return x * 2 if torch.compiler.is_compiling() else x * 3


def test_parts_of_a_cut_function_are_not_told_that_it_is_compiled():
    compiled = astjit.compile(asked)
    for _ in range(2):
        assert difference(observed(asked, inputs()), observed(compiled, inputs())) is None


def test_texts_of_a_cut_function_are_those_of_its_segments():
    compiled = astjit.compile(three_statements_apart)
    arguments = inputs(3)
    before = compiled.ssa(*arguments)
    assert before.count("; not captured yet: no call has reached it") == before.count("segment_")
    compiled(*arguments)
    ssa = compiled.ssa(*arguments)
    first = three_statements_apart.__code__.co_firstlineno + 2
    heads = [f"; __astjit_segment_{k}__, line {first + 2 * k}" for k in range(3)]
    assert [line for line in ssa.splitlines() if line.startswith(";")] == heads
    parts = zip(("= mul", "= add", "= sub"), ssa.split("\n\n"), strict=True)
    assert all(name in part for name, part in parts)
    for text, mark in ((compiled.guards, "_fits("), (compiled.program_source, "return MISS")):
        assert text(*arguments).count("# __astjit_segment_") == 3
        assert mark in text(*arguments)
    assert compiled.cpp_source(*arguments).count("// __astjit_segment_") == 3
    with pytest.raises(astjit.UnsupportedOp, match="is no single program\n  instead: ssa"):
        compiled.cuda_source(*arguments)


def test_a_closure_keeps_its_cells():
    def maker():
        k = 1.0

        def inner(x):
            nonlocal k
            a = x * k
            note(k)
            k = k + 1
            return a * k

        return inner

    plain, compiled = maker(), astjit.compile(maker())
    assert isinstance(compiled, types.FunctionType)
    for _ in range(3):
        assert torch.equal(plain(torch.ones(3)), compiled(torch.ones(3)))


PAGE = Path(__file__).resolve().parents[2] / "docs" / "segments.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_runs(tmp_path):
    fences = [text for _, text in _FENCE.findall(PAGE.read_text())]
    file = tmp_path / "example.py"
    file.write_text(fences[0])
    settle = runpy.run_path(str(file))["settle"]
    given = torch.arange(12.0).view(3, 4), torch.ones(4), 2.0
    for _ in range(2):
        z, steps = settle(*given)
    wanted, count = settle.__wrapped__(*given)
    assert torch.equal(z, wanted)
    assert steps == count
    assert settle.rewritten_source(*given) == fences[1]
    report = astjit.explain(settle, *given)
    assert str(report).replace(f"{tmp_path}/", "") + "\n" == fences[2]
    assert report.syncs == 2


def test_the_text_has_the_lines_of_the_original():
    compiled = astjit.compile(a_loop_with_a_print)
    lines = inspect.getsource(a_loop_with_a_print).splitlines()
    for _ in range(2):  # before and after the first call
        shown = compiled.rewritten_source(*inputs()).splitlines()
        assert len(shown) == len(lines)
        assert shown[4] == lines[4] == "        note(i)"
        compiled(*inputs())
    assert "    return __astjit_segment_1__(x, y)  # return x + y" in shown
    with pytest.raises(astjit.UnsupportedOp):
        astjit.compile(nothing_to_compile).rewritten_source(*inputs())


def test_a_module_shows_its_forward():
    compiled = astjit.compile(Chain())
    x, _ = inputs()
    compiled(x)
    compiled(x)
    assert "x = layer(x)" in compiled.rewritten_source(x)
    assert any("print" in each.reason for each in compiled.explain(x).fallbacks)
