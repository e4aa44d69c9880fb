import pytest

from astjit.ir.parser import parse
from astjit.ir.value import Literal
from astjit.ir.walk import Places, blocks, has_effect, outer_values, use_counts, users

FUNCTION = parse("""
fn f(%x: f32[4], %c: bool[], %out: f32[4]):
  %0 = add %x, %x : f32[4]
  %1 = if %c : f32[4] {
    then():
      %2 = mul %0, 2.0 : f32[4]
      %3 = for %2 {trip=3} : f32[4] {
        body(%i: int, %h: f32[4]):
          %4 = add %h, %0 : f32[4]
          yield %4
      }
      yield %3
    else():
      yield %0
  }
  %5 = neg %1 : f32[4]
  return %5, %5
""")
X, C, _ = FUNCTION.params
ADD, IF, NEG = FUNCTION.body.nodes
MUL, FOR = IF.regions[0].nodes
(INNER,) = FOR.regions[0].nodes


def test_blocks_are_outer_first():
    assert list(blocks(FUNCTION.body)) == [
        FUNCTION.body,
        IF.regions[0],
        FOR.regions[0],
        IF.regions[1],
    ]


def test_users_are_each_node_once():
    found = users(FUNCTION.body)
    assert found[X] == [ADD]
    assert found[ADD.result] == [MUL, INNER]
    assert NEG.result not in found
    assert not any(isinstance(v, Literal) for v in found)


def test_use_counts_count_yields_and_results():
    found = use_counts(FUNCTION.body)
    assert found[X] == 2
    assert found[ADD.result] == 3
    assert found[NEG.result] == 2
    assert found[FOR.regions[0].params[0]] == 0


def test_dominance_follows_order_and_nesting():
    places = Places(FUNCTION.body)
    assert places.dominates(X, INNER)
    assert places.dominates(ADD.result, INNER)
    assert places.dominates(MUL.result, FOR)
    assert places.dominates(MUL.result, INNER)
    assert places.dominates(FOR.regions[0].params[1], INNER)
    assert places.dominates(Literal(2), ADD)
    assert not places.dominates(MUL.result, NEG)
    assert not places.dominates(NEG.result, ADD)
    assert not places.dominates(IF.result, MUL)
    assert not places.dominates(FOR.result, INNER)
    assert not places.dominates(ADD.result, ADD)
    with pytest.raises(KeyError):
        Places(IF.regions[0]).dominates(X, MUL)


def test_outer_values_are_what_a_region_borrows():
    assert outer_values(IF.regions[0]) == [ADD.result]
    assert outer_values(FOR.regions[0]) == [ADD.result]
    assert outer_values(IF.regions[1]) == [ADD.result]


def test_an_effect_inside_a_region_is_the_node_s():
    function = parse("""
    fn f(%c: bool[], %out: f32[4]):
      if %c {
        then():
          store %out, 1.0 {at='i'}
          yield
        else():
          yield
      }
      return
    """)
    (branch,) = function.body.nodes
    assert has_effect(branch)
    assert not has_effect(IF)
