"""Which axes are one loop, and which are made of several."""

import pytest

from astjit.fusion.classes import Classes
from astjit.fusion.pieces import Unfit
from astjit.ir.notation import parse_type
from astjit.ir.parser import parse
from astjit.types.shape import Sizes


def two(one, other, facts=""):
    """The axes of a reshape, the classes that they are in, and their loops' sizes."""
    where = f" where {facts}" if facts else ""
    sizes = Sizes(parse(f"fn f(%x: f32[a, b, c, d]){where}:\n  return %x\n").assumed)
    classes = Classes(sizes)
    left, right = (classes.fresh(parse_type(f"f32[{dims}]")) for dims in (one, other))
    classes.same(*([a for a in axes if a is not None] for axes in (left, right)))
    return classes, left, right


@pytest.mark.parametrize(
    ("one", "other", "facts", "loops"),
    [
        ("a, b", "a*b", "", ["a", "b"]),
        ("a, b, c", "a*b, c", "", ["a", "b", "c"]),
        ("a, 1, b", "a, b", "", ["a", "b"]),
        ("a*b, c", "a, b*c", "", ["a", "b", "c"]),
        ("24", "2, 12", "", ["2", "12"]),
        ("6, 4", "3, 8", "", ["3", "2", "4"]),
        ("a, b", "a, 2, b // 2", "2*(b // 2) == b", ["a", "2", "b // 2"]),
        ("a, b", "a, b // 2, 2", "2*(b // 2) == b", ["a", "b // 2", "2"]),
        ("a, b, c, d", "a, 4, (b // 4)*c*d", "b % 4 == 0", ["a", "4", "b // 4", "c", "d"]),
        ("a, b - 1, c", "a*b - a, c", "", ["a", "b - 1", "c"]),
        ("a, b", "c, d", "c == a, d == b", ["a", "b"]),
    ],
)
def test_a_reshape_runs_over_the_common_refinement(one, other, facts, loops):
    classes, left, right = two(one, other, facts)
    assert classes.loops(left) == classes.loops(right)
    assert [str(classes.size[a]) for a in classes.loops(left)] == loops
    for axes in (left, right):
        real = {classes.find(a) for a in axes if a is not None}
        made = classes.made()
        assert {b for a in real for b in made.get(a, (a,))} == set(classes.loops(left))


@pytest.mark.parametrize(
    ("one", "other", "facts"),
    [
        ("a, b", "c, d", "a*b == c*d"),  # 2 by 6 and 3 by 4
        ("a, b", "a, 64", "a*b == 64*a"),  # of no rows the columns may be any
        ("a, 6", "b, 4", "6*a == 4*b"),
        ("a, b", "a, 2, b // 2", ""),
        ("4", "4, 1, a", ""),
    ],
)
def test_sizes_that_are_not_known_to_divide(one, other, facts):
    with pytest.raises(Unfit, match="more than a choice of axes"):
        two(one, other, facts)


def test_axes_made_of_axes_that_are_tied_are_refined():
    classes, (flat,), (_, _) = two("24", "2, 12")
    again, six, four = classes.fresh(parse_type("f32[24, 6, 4]"))
    classes.same([again], [six, four])
    classes.tie(flat, again)
    assert [classes.size[a] for a in classes.loops([flat])] == [2, 3, 4]
    assert classes.loops([six]) == classes.loops([flat])[:2]
    assert set(classes.made()) == {classes.find(flat), classes.find(six), classes.find(1 + 1)}


def test_no_axis_is_made_of_itself():
    classes, (flat,), (outer, _) = two("a*b", "a, b")
    with pytest.raises(Unfit, match="made of itself"):
        classes.tie(flat, outer) or classes.loops([flat])
