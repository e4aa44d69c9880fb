"""Which nodes a pass computes, reads and keeps, for kernels whose passes are known by hand."""

import pytest

from astjit.fusion.kernel import facts
from astjit.fusion.stages import cut, is_element, later_uses, recompute_cost, wanted
from astjit.ir.value import Result
from tests.codegen import records

FIELDS = ("scalars", "scalar_stores", "nodes", "reductions", "stores")


def words(kernel):
    """A short name for every node: its op, numbered where it comes again."""
    seen, found = {}, {}
    for node in kernel.body.nodes:
        op = node.op.name
        seen[op] = seen.get(op, 0) + 1
        found[id(node)] = op + (str(seen[op]) if seen[op] > 1 else "")
    return found


def value(kernel, word):
    at = list(words(kernel).values()).index(word)
    return kernel.body.nodes[at].results[0]


def described(kernel, keep=None):
    """Each pass as {field: words}, empty fields left out, and the uniforms."""
    named = words(kernel)
    made = cut(kernel, {value(kernel, w): place for w, place in (keep or {}).items()})
    passes = []
    for here in made.passes:
        shown = {f: " ".join(named[id(n)] for n in getattr(here, f)) for f in FIELDS}
        shown |= {f: " ".join(named[id(v.node)] for v in getattr(here, f)) for f in KEPT}
        passes.append({field: text for field, text in shown.items() if text})
    return [named[id(n)] for n in made.uniforms], passes


KEPT = ("reads", "keeps")


def test_softmax_computed_again():
    uniforms, passes = described(records.softmax())
    assert uniforms == []
    assert passes == [
        {"nodes": "load", "reductions": "reduce"},
        {"nodes": "load sub exp", "reductions": "reduce2"},
        {"nodes": "load sub exp div", "stores": "store"},
    ]


def test_softmax_kept():
    _, passes = described(records.softmax(), {"load": "registers", "exp": "registers"})
    assert passes == [
        {"nodes": "load", "keeps": "load", "reductions": "reduce"},
        {"reads": "load", "nodes": "sub exp", "keeps": "exp", "reductions": "reduce2"},
        {"reads": "exp", "nodes": "div", "stores": "store"},
    ]


def test_what_a_kept_value_is_made_of_is_not_read_again():
    _, passes = described(records.softmax(), {"exp": "out"})
    assert passes[1:] == [
        {"nodes": "load sub exp", "keeps": "exp", "reductions": "reduce2"},
        {"reads": "exp", "nodes": "div", "stores": "store"},
    ]


def test_rms_norm():
    uniforms, passes = described(records.rms_norm())
    assert uniforms == ["size", "to", "to2"]  # the count and eps: once per kernel
    assert passes == [
        {"nodes": "load load2 add mul", "reductions": "reduce", "stores": "store"},
        {
            "scalars": "div add2 rsqrt",
            "nodes": "load load2 add mul2 load3 mul3",
            "stores": "store2",
        },
    ]
    _, passes = described(records.rms_norm(), {"add": "h"})
    assert passes == [
        {
            "nodes": "load load2 add mul",
            "keeps": "add",
            "reductions": "reduce",
            "stores": "store",
        },
        {
            "scalars": "div add2 rsqrt",
            "reads": "add",
            "nodes": "mul2 load3 mul3",
            "stores": "store2",
        },
    ]


def test_layer_norm():
    uniforms, passes = described(records.layer_norm(), {"load": "registers", "sub": "registers"})
    assert uniforms == ["size", "to", "size2", "to2"]
    assert passes == [
        {"nodes": "load", "keeps": "load", "reductions": "reduce"},
        {
            "scalars": "div",
            "scalar_stores": "store",
            "reads": "load",
            "nodes": "sub mul",
            "keeps": "sub",
            "reductions": "reduce2",
        },
        {"scalars": "div2 rsqrt", "reads": "sub", "nodes": "mul2 load2 mul3", "stores": "store2"},
    ]


def test_a_pointwise_kernel_is_one_pass():
    uniforms, passes = described(records.bias_gelu())
    assert uniforms == []
    assert len(passes) == 1
    assert passes[0]["stores"] == "store"
    assert "reductions" not in passes[0]


def test_a_last_pass_without_elements_does_not_sweep():
    made = cut(records.cross_entropy(), {})
    assert [here.sweeps for here in made.passes] == [True, True, False]


def test_a_constant_fills_its_buffer_in_the_first_pass():
    r = records.Record("zeros", "pointwise", ("n",), (), [("out", "f32", ("n",), "out")])
    r.store("out", r.emit("to", 0.0, dtype=records.F32))
    _, passes = described(r.kernel())
    assert passes == [{"stores": "store"}]


def test_facts_of_softmax():
    kernel = records.softmax()
    known = facts(kernel)
    axes = {w: sorted(known[value(kernel, w)].axes) for w in ("load", "reduce", "exp", "div")}
    assert axes == {
        "load": ["cols", "rows"],
        "reduce": ["rows"],
        "exp": ["cols", "rows"],
        "div": ["cols", "rows"],
    }
    stages = [known[value(kernel, w)].stage for w in ("load", "reduce", "exp", "reduce2", "div")]
    assert stages == [0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("make", "later"),
    [
        (records.softmax, {"load": [1], "exp": [2]}),
        (records.rms_norm, {"add": [1]}),
        (records.layer_norm, {"load": [1], "sub": [2]}),
        (records.bias_gelu, {}),
        (records.square_sum0, {}),
        (records.cross_entropy, {"load": [1]}),
    ],
)
def test_values_wanted_in_later_passes(make, later):
    kernel = make()
    named = words(kernel)
    assert {named[id(v.node)]: at for v, at in later_uses(kernel).items()} == later


def test_the_cost_of_computing_again():
    softmax, rms_norm = records.softmax(), records.rms_norm()
    assert recompute_cost(softmax, value(softmax, "load")) == 1.0
    assert recompute_cost(softmax, value(softmax, "exp")) == 12.0  # a load, sub, a function
    assert recompute_cost(rms_norm, value(rms_norm, "add")) == 3.0


# ---- kernels whose templates do not exist yet: the structure holds them ----------------------


def test_cross_entropy_gathers_one_element_a_row():
    kernel = records.cross_entropy()
    known = facts(kernel)
    for word in ("load2", "eq", "where", "load3"):  # the target, and the element that it picks
        assert (known[value(kernel, word)].axes, known[value(kernel, word)].stage) == ({"rows"}, 0)
    uniforms, passes = described(kernel)
    assert uniforms == []
    assert passes == [
        {"scalars": "load2 eq where load3", "nodes": "load", "reductions": "reduce"},
        {"scalars": "sub2", "nodes": "load sub exp", "reductions": "reduce2"},
        {"scalars": "log sub3 where2", "scalar_stores": "store"},
    ]


def test_square_sum0_sweeps_rows_for_every_column():
    kernel = records.square_sum0()
    known = facts(kernel)
    assert (kernel.swept, kernel.axes) == (("rows",), ("cols", "rows"))
    assert known[value(kernel, "mul")].axes == {"rows", "cols"}
    assert (known[value(kernel, "reduce")].axes, known[value(kernel, "reduce")].stage) == (
        {"cols"},
        1,
    )
    assert is_element(kernel, known[value(kernel, "mul")].axes)
    assert not is_element(kernel, known[value(kernel, "reduce")].axes)
    assert described(kernel) == (
        [],
        [{"nodes": "load mul", "reductions": "reduce"}, {"scalar_stores": "store"}],
    )


def test_sin_cos_sum_leaves_no_axis():
    kernel = records.sin_cos_sum()
    known = facts(kernel)
    total = known[value(kernel, "reduce")]
    assert (kernel.swept, total.axes, total.stage) == (("n",), frozenset(), 1)
    assert described(kernel) == (
        [],
        [{"nodes": "load sin cos mul", "reductions": "reduce"}, {"scalar_stores": "store"}],
    )


RECORDS = (
    records.bias_gelu,
    records.rms_norm,
    records.softmax,
    records.layer_norm,
    records.cross_entropy,
    records.square_sum0,
    records.sin_cos_sum,
)


@pytest.mark.parametrize("make", RECORDS)
@pytest.mark.parametrize("kept", [False, True])
def test_every_operand_is_known_where_a_node_is_computed(make, kept):
    kernel = make()
    keep = dict.fromkeys(later_uses(kernel), "registers") if kept else {}
    made = cut(kernel, keep)
    scalars = {r for n in made.uniforms for r in n.results}
    stored, reduced = [], []
    for here in made.passes:
        for node in here.scalars:
            operands = [v for v in node.values if isinstance(v, Result)]
            assert set(operands) <= scalars
            scalars |= set(node.results)
        elements = set(here.reads)
        for node in here.nodes:
            operands = {v for v in node.values if isinstance(v, Result)}
            assert operands <= scalars | elements
            elements |= set(node.results)
        for value_ in wanted(here):
            assert not isinstance(value_, Result) or value_ in scalars | elements
        assert set(here.keeps) <= elements
        scalars |= {r for n in here.reductions for r in n.results}
        stored += [*here.stores, *here.scalar_stores]
        reduced += here.reductions
    nodes = kernel.body.nodes
    assert sorted(map(id, stored)) == sorted(id(n) for n in nodes if n.op.name == "store")
    assert sorted(map(id, reduced)) == sorted(id(n) for n in nodes if n.op.name == "reduce")


@pytest.mark.parametrize("make", RECORDS)
def test_a_kept_value_is_computed_once(make):
    kernel = make()
    keep = dict.fromkeys(later_uses(kernel), "registers")
    counts = {}
    for here in cut(kernel, keep).passes:
        for node in here.nodes:
            for result in node.results:
                counts[result] = counts.get(result, 0) + 1
    assert all(counts[v] == 1 for v in keep)


def test_one_element_is_stored_after_all_rows_since_there_may_be_none():
    r = records.Record(
        "beside",
        "row",
        records.R,
        records.C,
        [
            *(("x", "f32", records.RC, "in"), ("s", "f32", (), "in")),
            *(("out", "f32", (), "out"), ("y", "f32", (), "out")),
        ],
    )
    y = r.emit("abs", r.load("s"))
    r.store("y", y)
    total = r.emit("reduce", r.emit("mul", r.load("x"), y), combine="sum")
    r.store("out", r.emit("reduce", total, combine="sum", over="rows"))
    found = cut(r.kernel(), {})
    assert [node.op.name for node in found.finals] == ["store", "reduce", "store"]
    assert [node.op.name for node in found.uniforms] == ["load", "abs"]
    assert [here.scalar_stores for here in found.passes] == [[], []]
