"""Accumulators of reductions, and what they start from."""

import pytest

from astjit.codegen.cuda_reductions import Reduction, combined, initial, slots_of
from astjit.types.dtype import BY_NAME


@pytest.mark.parametrize(
    ("combine", "dtype", "text"),
    [
        ("sum", "f32", "0.0f"), ("prod", "f64", "1.0"), ("max", "f32", "-INFINITY"),
        ("min", "f64", "INFINITY"), ("any", "bool", "false"), ("all", "bool", "true"),
        ("max", "u8", "0"), ("min", "u8", "255"), ("max", "i8", "-128"),
        ("min", "i32", "2147483647"), ("max", "i64", "(-9223372036854775807 - 1)"),
        ("max", "bool", "false"), ("min", "bool", "true"),
    ],
)  # fmt: skip
def test_what_a_combine_starts_from(combine, dtype, text):
    assert initial(combine, BY_NAME[dtype]) == text


def test_one_more_value_and_shared_memory():
    total = Reduction("t", "float", "0.0f", "Sum", "slots[0]", "float")
    assert combined(total, "x") == "t += x;"
    top = Reduction("m", "long long", "0", "MaxAny", "slots_long_long[0]", "long long")
    assert combined(top, "x") == "m = MaxAny::combine(m, x);"
    assert [slots_of(kind) for kind in ("float", "long long")] == ["slots", "slots_long_long"]
