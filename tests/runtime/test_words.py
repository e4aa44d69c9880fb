import pytest
import torch

from astjit.runtime.words import MISS, Words
from astjit.types.dtype import BOOL, F32


def test_ours_are_known_by_their_names():
    words = Words(["x"])
    assert words.word("MISS") == "MISS"
    assert words.dtype(F32) == "float32"
    assert words.word("type") == "type"
    assert words.namespace == {"MISS": MISS, "float32": torch.float32, "type": type}


def test_the_users_names_are_never_taken():
    words = Words(["MISS", "type", "float32", "h"])
    assert words.word("MISS") == "MISS2"
    assert words.word("type") == "type2"
    assert words.dtype(F32) == "float322"
    assert words.names.take("h") == "h2"
    assert words.namespace == {"MISS2": MISS, "type2": type, "float322": torch.float32}


def test_builtins_and_keywords_are_no_local_names():
    words = Words([])
    assert words.names.take("lambda") != "lambda"
    assert words.names.take("float") != "float"
    assert words.dtype(BOOL) == "bool_"


def test_allocation_gives_the_strides_asked_for():
    words = Words([])
    allocate = words.namespace[words.word("empty_strided_cpu")]
    made = allocate((2, 3), (1, 2), torch.bfloat16)
    assert (made.shape, made.stride(), made.dtype) == ((2, 3), (1, 2), torch.bfloat16)
    assert made.device.type == "cpu"


def test_what_an_operator_returns_is_held_against_its_promise():
    words = Words([])
    name = words.word("promised")
    promised = words.namespace[name]
    assert promised(torch.ones(2, 3), (2, 3), torch.float32) is None
    with pytest.raises(RuntimeError, match=r"float32\[2, 3\], its fake implementation .*\[3, 2\]"):
        promised(torch.ones(2, 3), (3, 2), torch.float32)
    with pytest.raises(RuntimeError, match="float64"):
        promised(torch.ones(2), (2,), torch.float64)


def test_a_result_is_laid_as_promised_or_refused():
    words = Words([])
    laid = words.namespace[words.word("laid")]
    x = torch.arange(6.0).view(2, 3)
    assert laid(x, (2, 3), (3, 1)) is x
    moved = laid(x, (2, 3), (1, 2))
    assert moved.stride() == (1, 2)
    assert torch.equal(moved, x)
    with pytest.raises(RuntimeError, match=r"a result of size \[2, 3\], which was to be \[3, 2\]"):
        laid(x, (3, 2), (2, 1))
