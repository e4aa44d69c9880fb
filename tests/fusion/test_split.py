"""What each launch of a kernel does that blocks share."""

from astjit.fusion.kernel import is_reduce
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches, share
from astjit.fusion.stages import cut
from tests.codegen import records

FEW = {"rows": 4, "cols": 1_000_000}


def names(nodes):
    return [n.op.name for n in nodes]


def test_a_launch_for_each_pass():
    kernel = records.softmax()
    chosen = schedule(kernel, "cuda", FEW, 16)
    made = launches(kernel, chosen)
    assert [k.name for k, _ in made] == ["softmax_pass1", "softmax_pass2", "softmax_pass3"]
    assert [s.phase for _, s in made] == [0, 1, 2]
    assert {k.body for k, _ in made} == {kernel.body}


def test_itself_where_one_pass_does_or_one_block():
    total = records.square_sum0()
    chosen = schedule(total, "cuda", {"rows": 1_000_000, "cols": 8}, 16)
    assert chosen.variant == "split"
    assert launches(total, chosen) == ((total, chosen),)
    softmax = records.softmax()
    looped = schedule(softmax, "cuda", {"rows": 999, "cols": 1_000_000}, 16)
    assert launches(softmax, looped) == ((softmax, looped),)


def test_a_launch_knows_what_it_needs_of_those_before():
    kernel = records.softmax()
    cuts = cut(kernel, {})
    first, second, third = (share(kernel, cuts, at) for at in range(3))
    assert first.known == ()
    combines = [
        [n.fields["combine"] for p in s.known for n in p.reductions] for s in (second, third)
    ]
    assert combines == [["max"], ["max", "sum"]]
    assert all(is_reduce(n) for s in (second, third) for p in s.known for n in p.reductions)
    assert [s.tail for s in (first, second, third)] == [None] * 3


def test_what_no_later_pass_needs_is_not_combined_again():
    kernel = records.rms_norm()
    cuts = cut(kernel, schedule(kernel, "cuda", FEW, 16).kept(kernel))
    last = share(kernel, cuts, 1)
    assert [n.fields["combine"] for p in last.known for n in p.reductions] == ["sum"]
    assert "rsqrt" in names(last.here.scalars)


def test_the_last_block_goes_on_where_no_pass_is_left():
    kernel = records.square_sum0()
    made = share(kernel, cut(kernel, {}), 0)
    assert made.tail is not None
    assert names(made.tail.scalar_stores) == ["store"]
