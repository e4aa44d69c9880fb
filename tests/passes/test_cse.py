from astjit.passes.cse import cse
from tests.check import check_alone, check_pass


def test_merges_equal_values():
    check_pass(
        cse,
        """
        fn f(%x: f32[8]):
          %1 = rsqrt %x : f32[8]
          %2 = rsqrt %x : f32[8]
          %3 = mul %1, %2 : f32[8]
          return %3
        """,
        """
        fn f(%x: f32[8]):
          %0 = rsqrt %x : f32[8]
          %1 = rsqrt %x : f32[8]
          %2 = mul %0, %0 : f32[8]
          return %2
        """,
    )


def test_merges_what_merging_makes_equal_and_every_result():
    check_pass(
        cse,
        """
        fn f(%x: f32[4, 8]):
          %0 = exp %x : f32[4, 8]
          %1, %2 = var_mean %0 {dim=[1]} : f32[4], f32[4]
          %3 = exp %x : f32[4, 8]
          %4, %5 = var_mean %3 {dim=[1]} : f32[4], f32[4]
          %6 = sub %1, %4 : f32[4]
          %7 = sub %2, %5 : f32[4]
          return %6, %7
        """,
        """
        fn f(%x: f32[4, 8]):
          %0 = exp %x : f32[4, 8]
          %1, %2 = var_mean %0 {dim=[1]} : f32[4], f32[4]
          %3 = exp %x : f32[4, 8]
          %4, %5 = var_mean %0 {dim=[1]} : f32[4], f32[4]
          %6 = sub %1, %1 : f32[4]
          %7 = sub %2, %2 : f32[4]
          return %6, %7
        """,
    )


def test_operands_of_commutative_rows_have_no_order():
    check_pass(
        cse,
        """
        fn f(%x: f32[8], %y: f32[8]):
          %0 = add %x, %y : f32[8]
          %1 = add %y, %x : f32[8]
          %2 = sub %0, %1 : f32[8]
          return %2
        """,
        """
        fn f(%x: f32[8], %y: f32[8]):
          %0 = add %x, %y : f32[8]
          %1 = add %y, %x : f32[8]
          %2 = sub %0, %0 : f32[8]
          return %2
        """,
    )


def test_leaves_different_values_alone():
    check_alone(
        cse,
        """
        fn f(%x: f32[8], %y: f32[8]):
          %0 = sub %x, %y : f32[8]
          %1 = sub %y, %x : f32[8]
          %2 = sum %0 {dim=[0]} : f32[]
          %3 = sum %1 {dim=[0], keepdim=true} : f32[1]
          %4 = to %1 {dtype=f64} : f64[8]
          %5 = to %1 {dtype=f16} : f16[8]
          %6 = add %2, %3 : f32[1]
          %7 = add %4, %5 : f64[8]
          return %6, %7
        """,
    )


def test_numbers_of_other_types_or_signs_differ():
    check_alone(
        cse,
        """
        fn f(%x: i64[8]):
          %0 = mul %x, 1 : i64[8]
          %1 = mul %x, true : i64[8]
          %2 = mul %x, 1.0 : f32[8]
          %3 = mul %x, 0.0 : f32[8]
          %4 = mul %x, -0.0 : f32[8]
          %5 = add %0, %1 : i64[8]
          %6 = add %2, %3 : f32[8]
          %7 = add %6, %4 : f32[8]
          return %5, %7
        """,
    )


def test_a_region_sees_what_dominates_it_and_nothing_leaves_it():
    check_pass(
        cse,
        """
        fn f(%x: f32[8], %c: bool[]):
          %0 = exp %x : f32[8]
          %1 = if %c : f32[8] {
            then():
              %2 = exp %x : f32[8]
              %3 = tanh %2 : f32[8]
              yield %3
            else():
              %4 = tanh %0 : f32[8]
              yield %4
          }
          %5 = tanh %0 : f32[8]
          %6 = mul %1, %5 : f32[8]
          return %6
        """,
        """
        fn f(%x: f32[8], %c: bool[]):
          %0 = exp %x : f32[8]
          %1 = if %c : f32[8] {
            then():
              %2 = exp %x : f32[8]
              %3 = tanh %0 : f32[8]
              yield %3
            else():
              %4 = tanh %0 : f32[8]
              yield %4
          }
          %5 = tanh %0 : f32[8]
          %6 = mul %1, %5 : f32[8]
          return %6
        """,
    )


def test_two_results_keep_memory_of_their_own():
    check_alone(
        cse,
        """
        fn f(%x: f32[8]):
          %0 = exp %x : f32[8]
          %1 = exp %x : f32[8]
          return %0, %1
        """,
    )


def test_effects_are_not_merged():
    check_alone(
        cse,
        """
        fn f(%out: f32[8], %x: f32[]):
          store %out, %x {at='i'}
          store %out, %x {at='i'}
          return
        """,
    )
