import pytest

from astjit.passes.fold import fold
from tests.check import check_alone, check_pass


def test_numbers_are_folded_through_chains_and_regions():
    check_pass(
        fold,
        """
        fn f(%x: f32[4], %c: bool[]):
          %n = size {value=4} : int
          %0 = div 1.0, %n : float
          %1 = if %c : f32[4] {
            then():
              %2 = mul %x, %0 : f32[4]
              yield %2
            else():
              yield %x
          }
          return %1, %n
        """,
        """
        fn f(%x: f32[4], %c: bool[]):
          %n = size {value=4} : int
          %0 = div 1.0, 4 : float
          %1 = if %c : f32[4] {
            then():
              %2 = mul %x, 0.25 : f32[4]
              yield %2
            else():
              yield %x
          }
          return %1, 4
        """,
    )


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        ("add 1, 2 : int", "3"),
        ("add 1, 2.0 : float", "3.0"),
        ("sub 0.1, 0.3 : float", "-0.19999999999999998"),
        ("mul -1.0, 0.0 : float", "-0.0"),
        ("div 1, 2 : float", "0.5"),
        ("lt 1, 2 : bool", "true"),
        ("mul inf, 0.0 : float", "nan"),
        ("neg 3 : int", "-3"),
        ("where true, 1, 2 : int", "1"),
    ],
)
def test_values_are_python_s(operation, value):
    check_pass(
        fold,
        f"fn f():\n  %0 = {operation}\n  return %0",
        f"fn f():\n  %0 = {operation}\n  return {value}",
    )


@pytest.mark.parametrize(
    "operation",
    [
        "size {value=a} : int",  # a size that is known at run time only
        "add %n, 1 : int",
        "exp 1.0 : float",  # not exact
        "where true, 1, 2.5 : float",  # Python would give an int
        "rsqrt 0.0 : float",  # raises, and shall when it runs
    ],
)
def test_leaves_alone(operation):
    check_alone(fold, f"fn f(%x: f32[a], %n: int):\n  %0 = {operation}\n  return %0")


def test_tensors_are_not_computed():
    check_alone(fold, "fn f(%x: f32[4]):\n  %0 = add %x, 1 : f32[4]\n  return %0")
