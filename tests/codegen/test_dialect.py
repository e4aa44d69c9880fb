"""The two targets' spellings cover every dtype."""

import pytest

from astjit.codegen.dialect import CPU, CUDA
from astjit.types.dtype import BY_NAME

COMPUTED = [name for name, dtype in BY_NAME.items() if dtype.compute is dtype]


@pytest.mark.parametrize("dialect", [CPU, CUDA], ids=["cpu", "cuda"])
def test_every_dtype_has_types(dialect):
    assert set(dialect.memory_types) == set(BY_NAME)
    assert set(dialect.value_types) == set(COMPUTED)
    assert "bf16" not in dialect.value_types  # computed in float


def test_types_that_differ():
    assert (CPU.value_types["i64"], CUDA.value_types["i64"]) == ("long", "long long")
    assert (CPU.memory_types["bf16"], CUDA.memory_types["bf16"]) == ("bf16", "bfloat16")
    same = [n for n in CPU.memory_types if CPU.memory_types[n] == CUDA.memory_types[n]]
    assert same == ["bool", "u8", "i8", "i16", "i32", "f32", "f64"]


def test_words():
    assert CPU.cast == "({type}){0}"
    assert CUDA.cast == "static_cast<{type}>({0})"
    assert (CUDA.restrict, CPU.restrict) == ("__restrict__ ", "")
    assert (CPU.languages[-1], CUDA.languages[-1]) == ("c", "c")
    assert (CPU.size, CUDA.size) == ("long", "int")
