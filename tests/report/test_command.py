import sys

import pytest
import torch

from astjit.errors import UsageError
from astjit.ops.listing import listing
from astjit.report.command import (
    list_ops,
    list_passes,
    list_targets,
    load_function,
    parse_argument,
    parse_arguments,
    parser,
)


@pytest.fixture(autouse=True)
def _same_path(monkeypatch):
    """Folders of files that are loaded leave the path again: others look files up in it."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1e-6", 1e-6),
        ("True", True),
        ("None", None),
        ("'a'", "a"),
        ("(1, 2)", (1, 2)),
        ("-3", -3),
    ],
)
def test_constants(text, value):
    assert parse_argument(text) == value


def test_tensors():
    x = parse_argument("f32[128,1024]")
    assert (x.shape, x.dtype, x.is_contiguous()) == ((128, 1024), torch.float32, True)
    y = parse_argument("bf16[2, 3] order(1,0)")
    assert (y.shape, y.stride(), y.dtype) == ((2, 3), (1, 2), torch.bfloat16)
    assert parse_argument("i64[]").dim() == 0


@pytest.mark.parametrize("text", ["f32[n]", "f33[2]", "float", "x + 1", "f32[2"])
def test_neither(text):
    with pytest.raises(UsageError, match="not an argument"):
        parse_argument(text)


def test_keywords():
    positional, named = parse_arguments(["f32[2]", "eps=1e-5", "w=f32[3]"])
    assert len(positional) == 1
    assert named["eps"] == 1e-5
    assert named["w"].shape == (3,)


def test_functions_in_files(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("class A:\n    def f(self): ...\ndef g(): return 3\nx = 1\n")
    assert load_function(f"{file}:g")() == 3
    assert load_function(f"{file}:A.f").__qualname__ == "A.f"
    for wrong in (f"{file}:h", f"{file}:x", f"{tmp_path / 'none.py'}:g", "g"):
        with pytest.raises(UsageError):
            load_function(wrong)


def test_options():
    chosen = parser().parse_args(
        ["explain", "m.py:f", "f32[2]", "--show", "cuda", "--arch", "sm_80"]
    )
    assert (chosen.function, chosen.arguments, chosen.show, chosen.arch, chosen.after) == (
        "m.py:f",
        ["f32[2]"],
        "cuda",
        "sm_80",
        None,
    )


def test_lists():
    assert "| `rsqrt` |" in list_ops()
    assert f"{list_ops()}\n" == listing(), "printed, it is docs/ops.md"
    assert list_passes().splitlines()[0].startswith("fold")
    assert "fold before cse: " in list_passes()
    assert list_targets().splitlines()[1].startswith("cuda   CUDA C++, built by NVRTC: ")


def test_a_file_finds_what_lies_beside_it(tmp_path):
    (tmp_path / "beside_the_example.py").write_text("FACTOR = 3\n")
    text = "from beside_the_example import FACTOR\n\n\ndef scaled(x):\n    return x * FACTOR\n"
    (tmp_path / "example_of_two.py").write_text(text)
    assert load_function(f"{tmp_path}/example_of_two.py:scaled")(2) == 6
