from astjit.passes.dce import dce
from tests.check import check_alone, check_pass


def test_removes_what_nothing_needs():
    check_pass(
        dce,
        """
        fn f(%x: f32[8], %unused: f32[8]):
          %0 = exp %x : f32[8]
          %1 = neg %0 : f32[8]
          %2 = neg %x : f32[8]
          return %2
        """,
        """
        fn f(%x: f32[8], %unused: f32[8]):
          %0 = neg %x : f32[8]
          return %0
        """,
    )


def test_recurses_into_regions_and_keeps_what_they_use():
    check_pass(
        dce,
        """
        fn f(%x: f32[8], %c: bool[]):
          %0 = exp %x : f32[8]
          %1 = tanh %x : f32[8]
          %2 = if %c : f32[8] {
            then():
              %3 = neg %0 : f32[8]
              %4 = neg %1 : f32[8]
              yield %3
            else():
              yield %x
          }
          return %2
        """,
        """
        fn f(%x: f32[8], %c: bool[]):
          %0 = exp %x : f32[8]
          %1 = if %c : f32[8] {
            then():
              %2 = neg %0 : f32[8]
              yield %2
            else():
              yield %x
          }
          return %1
        """,
    )


def test_removes_a_node_with_regions_whole():
    check_pass(
        dce,
        """
        fn f(%x: f32[8], %c: bool[]):
          %0 = exp %x : f32[8]
          %1 = if %c : f32[8] {
            then():
              yield %0
            else():
              yield %x
          }
          return %x
        """,
        """
        fn f(%x: f32[8], %c: bool[]):
          return %x
        """,
    )


def test_leaves_effects_and_partly_used_nodes_alone():
    check_alone(
        dce,
        """
        fn f(%x: f32[4, 8], %out: f32[4], %c: bool[]):
          %0, %1 = var_mean %x {dim=[1]} : f32[4], f32[4]
          %2 = load %x {at='i,j'} : f32[]
          if %c {
            then():
              store %out, %2 {at='i'}
              yield
            else():
              yield
          }
          return %1
        """,
    )
