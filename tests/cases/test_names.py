"""Names of the user's that mean something elsewhere: to C, to a helper, to the generated text."""

import pytest
import torch

import astjit
from astjit.targets.nvrtc import compile_cuda

SOURCE = """
def {name}({x}, mask):
    row = {x} * 2 + mask
    return row - row.mean(-1, keepdim=True)
"""


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("sincos", "exp"),
        ("free", "col"),
        ("exp", "threads"),
        ("main", "double"),
        ("rows", "cols"),
        ("MISS", "row_sum"),
        ("softmax", "n"),
        ("größe", "λ"),
    ],
)
def test_names_that_mean_something_in_the_generated_text(tmp_path, name, x):
    path = tmp_path / "named.py"
    path.write_text(SOURCE.format(name=name, x=x), encoding="utf-8")
    scope = {"torch": torch}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    function = astjit.compile(scope[name], fullgraph=True)
    given = torch.randn(5, 33), torch.randn(5, 33)
    torch.testing.assert_close(function(*given), scope[name](*given))
    assert 'extern "C" __global__' in function.cuda_source(*given)


# Python keywords cannot be names; what else might be taken, in C, in Python or in our own texts.
TAKEN = [
    name
    for line in (
        "float int double long short char bool void auto const static struct template typename",
        "operator new delete this union register volatile signed unsigned switch case default do",
        "goto sizeof extern inline namespace using public private friend virtual asm and_eq not_eq",
        "or_eq bitand bitor compl xor xor_eq alignas constexpr nullptr concept requires export",
        "sum max min exp log tanh sqrt abs fabs fmaxf rsqrtf expf printf malloc INFINITY NULL",
        "blockIdx threadIdx blockDim gridDim warpSize half float4 uint8_t int64_t size_t restrict",
        "tmp0 n i j x0 x1 row col rows cols thread threads lane block grid shared value element",
        "index out kernel main f fn_globals program programs original missed calls result results",
        "bind function_modes torch type len repr hasattr self cls object print builtins Exception",
        "range tuple list dict str _ __ __shared__ __astjit__x _x1 λ größe ñ 变量",
        "wide_name_0123456789_0123456789_0123456789_0123456789_0123456789",
    )
    for name in line.split()
]


def named_alike(parameters):
    """A function whose parameters, variables and own name are given."""
    lines = [f"def {parameters[0]}({', '.join(parameters)}, mask):"]
    lines += [f"    {name} = {name} * {at + 2} + mask" for at, name in enumerate(parameters)]
    total = " + ".join(parameters)
    lines += [f"    {parameters[0]} = {total}", f"    return {parameters[0]} - mask"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("start", range(0, len(TAKEN), 8))
def test_names_taken_by_c_python_and_generated_texts(tmp_path, start):
    """Eight names at a time, in one function whose texts are built and run."""
    path, names = tmp_path / "taken.py", TAKEN[start : start + 8]
    path.write_text(named_alike(names), encoding="utf-8")
    scope = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    function = astjit.compile(scope[names[0]], fullgraph=True)
    given = [torch.randn(3, 5) for _ in range(len(names) + 1)]
    torch.testing.assert_close(function(*given), scope[names[0]](*given))
    assert function.cache_info().programs == 1
    compile_cuda(function.cuda_source(*given, arch="sm_80"), "sm_80")
