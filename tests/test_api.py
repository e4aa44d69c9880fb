import functools
import inspect
import os
import pickle
import subprocess
import sys
import threading
import types
import warnings
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.func import grad, vmap

import astjit
from astjit.api import Record
from astjit.errors import AstjitWarning, UnsupportedOp, UsageError

ROOT = Path(__file__).resolve().parent.parent


@astjit.compile
def rms_norm(x, residual, w, eps=1e-6):
    """RMS norm of a sum."""
    h = x + residual
    # in one kernel
    return h, h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * w


def inputs(rows=4, cols=7):
    return torch.randn(rows, cols), torch.randn(rows, cols), torch.randn(cols)


def same(got, wanted):
    torch.testing.assert_close(got, wanted)


# --- the callable --------------------------------------------------------------------------------


def test_it_is_called_as_the_original():
    x, residual, w = inputs()
    plain = rms_norm.__wrapped__
    same(rms_norm(x, residual, w), plain(x, residual, w))
    same(rms_norm(w=w, residual=residual, x=x, eps=0.5), plain(x, residual, w, 0.5))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'w'"):
        rms_norm(x, residual)


def test_it_looks_like_the_original():
    assert rms_norm.__doc__ == "RMS norm of a sum."
    assert rms_norm.__name__ == rms_norm.__qualname__ == "rms_norm"
    assert str(inspect.signature(rms_norm)) == "(x, residual, w, eps=1e-06)"
    assert isinstance(rms_norm, types.FunctionType)
    assert isinstance(rms_norm.__astjit__, Record)


def test_it_pickles_by_name():
    assert pickle.loads(pickle.dumps(rms_norm)) is rms_norm


def test_with_and_without_arguments():
    def f(x):
        return x + 1

    x = torch.ones(3)
    for made in (astjit.compile(f), astjit.compile(fullgraph=True)(f), astjit.compile()(f)):
        same(made(x), x + 1)
        assert made.__wrapped__ is f
    again = astjit.compile(astjit.compile(f), numerics="fp32")
    assert again.__wrapped__ is f
    assert again.__astjit__.config.numerics == "fp32"


class Scale:
    by = 3.0

    @astjit.compile
    def __call__(self, x):
        return x * self.by

    @staticmethod
    @astjit.compile
    def twice(x):
        return x * 2


def test_as_a_method():
    x, scale = torch.randn(5), Scale()
    same(scale(x), x * 3)
    scale.by = 4.0
    same(scale(x), x * 4)
    same(Scale.twice(x), x * 2)
    bound = astjit.compile(scale.__call__)
    same(bound(x), x * 4)
    assert "x * 2" not in Scale.__call__.ssa(scale, x)
    assert Scale.__call__.cache_info().programs >= 1


def test_compiled_functions_are_looked_into_by_others():
    @astjit.compile(fullgraph=True)
    def outer(x, residual, w):
        return rms_norm(x, residual, w)[1] + 1

    given = inputs()
    same(outer(*given), rms_norm.__wrapped__(*given)[1] + 1)
    assert len(astjit.explain(outer, *given).kernels) == 1


def test_a_wrapper_around_a_compiled_function_does_what_it_says():
    @astjit.compile
    def inner(x):
        return x * 2

    @functools.wraps(inner)
    def wrapper(x):
        return inner(x) + 1

    def outer(x):
        return wrapper(x) * 3

    x = torch.ones(3)
    assert astjit.compile(wrapper)(x).tolist() == [3.0, 3.0, 3.0]
    assert astjit.compile(outer)(x).tolist() == [9.0, 9.0, 9.0]
    assert astjit.compile(wrapper).cache_info().programs == 0
    assert "inner(x) + 1" in str(astjit.explain(wrapper, x))


def test_a_decorated_function_keeps_its_own_parameters():
    def inner(x):
        return x * 2

    @functools.wraps(inner)
    def outer(x, *more, add=1.0):
        return inner(x) + add

    made = astjit.compile(outer, fullgraph=True)
    x = torch.randn(3)
    same(made(x, add=2.0), x * 2 + 2)
    assert made.cache_info().programs == 1


def generate(x):
    yield x + 1


def test_generators_stay_generators():
    made = astjit.compile(generate)
    with pytest.warns(AstjitWarning, match="generator"):
        (result,) = made(torch.ones(2))
    assert result.tolist() == [2, 2]


# --- one program for many calls ------------------------------------------------------------------


def test_one_program_for_all_sizes_but_one():
    rms_norm.cache_clear()
    for rows, cols in ((4, 7), (3, 5), (0, 5), (9, 1000)):
        given = inputs(rows, cols)
        same(rms_norm(*given), rms_norm.__wrapped__(*given))
    info = rms_norm.cache_info()
    assert (info.programs, info.hits, info.misses, info.respecialised) == (1, 3, 1, 0)
    given = inputs(1, 7)
    same(rms_norm(*given), rms_norm.__wrapped__(*given))
    info = rms_norm.cache_info()
    assert (info.programs, info.respecialised, info.reasons) == (2, 1, ("size 0 of x is 1",))


SCALE = 2.0


def test_what_was_read_may_change():
    global SCALE

    @astjit.compile
    def scaled(x):
        return x * SCALE

    x = torch.ones(3)
    same(scaled(x), x * 2)
    SCALE = 5.0
    same(scaled(x), x * 5)
    SCALE = 2.0


def test_threads_share_programs():
    @astjit.compile
    def f(x):
        return torch.exp(x) - 1

    x, results = torch.randn(50), []
    threads = [threading.Thread(target=lambda: results.append(f(x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f.cache_info().programs == 1
    for result in results:
        same(result, torch.exp(x) - 1)


# --- what is not compiled ------------------------------------------------------------------------


def writes(x):
    x.t_()
    return x


def test_a_fallback_is_told_once_and_runs():
    made = astjit.compile(writes)
    line = writes.__code__.co_firstlineno + 1
    x = torch.zeros(2, 3)
    with pytest.warns(AstjitWarning, match=rf"{__file__}:{line}: writes runs eagerly: "):
        assert made(x) is x
    assert x.shape == (3, 2)
    assert made(x) is x  # told once
    assert x.shape == (2, 3)


def test_fullgraph_raises_with_a_caret_and_runs_nothing():
    x = torch.zeros(2, 3)
    with pytest.raises(UnsupportedOp, match=r"(?s)x\.t_\(\).*\^\^\^") as raised:
        astjit.compile(writes, fullgraph=True)(x)
    assert raised.value.instead == "the operation that returns a new tensor"
    assert str(raised.value).endswith("instead: the operation that returns a new tensor")
    assert x.shape == (2, 3)


def test_the_users_exception_is_the_users():
    def fails(x, w):
        return x @ w

    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError) as eager:
        fails(x, x)
    with pytest.raises(RuntimeError) as ours:
        astjit.compile(fails)(x, x)
    assert str(ours.value) == str(eager.value)
    assert ours.value.__context__ is None


def test_gradients_run_eagerly():
    x = torch.randn(3, requires_grad=True)

    @astjit.compile
    def square(x):
        return x * x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        square(x).sum().backward()
    same(x.grad, 2 * x.detach())
    assert square.__astjit__.dispatcher.gradients == 1
    with torch.no_grad():
        same(square(x), x.detach() ** 2)
    assert square.cache_info().programs == 1


def test_transforms_modes_and_tracers_see_the_original():
    @astjit.compile
    def square(x):
        return x * x

    x = torch.randn(4, 3)
    square(x[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(vmap(square)(x), x * x)
        same(grad(lambda x: square(x).sum())(x), 2 * x)
        traced = torch.fx.symbolic_trace(square)
        assert "x * x" in traced.code
        with torch.device("meta"):
            assert square(x).device.type == "cpu"


def test_disabled(monkeypatch):
    monkeypatch.setenv("ASTJIT_DISABLE", "1")
    made = astjit.compile(writes, fullgraph=True)
    x = torch.zeros(3)
    assert made(x) is x
    assert made.cache_info().programs == 0
    assert "t_" in inspect.getsource(made.__wrapped__)


def test_a_module_is_compiled():
    module = torch.nn.Linear(3, 3)
    compiled = astjit.compile(module)
    assert isinstance(compiled, torch.nn.Module)
    assert compiled.weight is module.weight
    with torch.no_grad():
        torch.testing.assert_close(compiled(torch.ones(2, 3)), module(torch.ones(2, 3)))
    assert compiled.cache_info().programs == 1


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"target": "tpu"}, "'tpu' is not a target"),
        ({"numerics": "fast"}, "numerics='fast'"),
        ({"options": {"magic": 1}}, "no option 'magic'"),
    ],
)
def test_wrong_options(options, wrong):
    with pytest.raises(UsageError, match=wrong):
        astjit.compile(lambda x: x, **options)


@pytest.mark.parametrize("thing", [3, staticmethod(writes), classmethod(writes), print])
def test_what_is_no_function(thing):
    with pytest.raises(UsageError):
        astjit.compile(thing)


# --- looking at it -------------------------------------------------------------------------------


def test_texts():
    given = inputs()
    before = rms_norm.cache_info()
    assert rms_norm.ssa(*given).startswith("fn rms_norm(%x: f32[x0, x1], ")
    cuda = rms_norm.cuda_source(*given, arch="sm_80")
    assert cuda.startswith("// nvrtc --gpu-architecture=sm_80")
    assert "rms_norm(const float* __restrict__ x" in cuda
    assert 'extern "C" void rms_norm_kernel(' in rms_norm.cpp_source(*given)
    host = rms_norm.program_source(*given)
    assert "# h = x + residual   (test_api.py:" in host
    assert "rms_norm_kernel(" in host
    assert rms_norm.cache_info() == before


def test_the_rewritten_function_keeps_what_people_wrote():
    text = rms_norm.rewritten_source(*inputs())
    assert "def rms_norm(x, residual, w, eps=1e-6):" in text
    assert '"""RMS norm of a sum."""' in text
    assert "return __astjit_segment_0__(x, residual, w, eps)" in text


def test_texts_of_what_cannot_be_captured():
    made = astjit.compile(writes)
    with pytest.raises(UnsupportedOp, match="t_"):
        made.ssa(torch.ones(3))
    with pytest.raises(UsageError, match="requires a gradient"):
        rms_norm.ssa(*inputs()[:2], torch.randn(7, requires_grad=True))
    with pytest.raises(UsageError, match="sm_7x"):
        rms_norm.cuda_source(*inputs(), arch="sm_7x")


def test_one_kernel_for_what_belongs_together():
    def gelu(x, bias, residual):
        return F.gelu(x + bias, approximate="tanh") + residual

    given = torch.randn(5, 9), torch.randn(9), torch.randn(5, 9)
    report = astjit.explain(gelu, *given)
    assert [kernel.kind for kernel in report.kernels] == ["pointwise"]
    assert report.unfused == ()
    same(astjit.compile(gelu)(*given), gelu(*given))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dynamo detected a call")  # for having `cache_info`
def test_torch_compile_looks_into_the_original():
    @astjit.compile
    def square(x):
        return x * x + 1

    @torch.compile(backend="eager", fullgraph=True)
    def outer(x):
        return square(x) * 2

    x = torch.randn(3)
    same(outer(x), (x * x + 1) * 2)
    assert square.cache_info().misses == 0


@pytest.mark.slow
def test_without_a_compiler_everything_runs_with_one_warning(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(
        "import torch, astjit\n"
        "@astjit.compile\n"
        "def f(x):\n    return torch.softmax(x + 1, -1)\n"
        "@astjit.compile\n"
        "def g(x):\n    return x * 2 + 1\n"
        "x = torch.randn(3, 4)\n"
        "torch.testing.assert_close(f(x), f.__wrapped__(x))\n"
        "torch.testing.assert_close(g(x), g.__wrapped__(x))\n"
        "print(f.cache_info().programs, f.cache_info().kernels_built)\n"
        "assert 'extern' in f.cpp_source(x) and '__global__' in f.cuda_source(x)\n"
    )
    environment = {**os.environ, "CXX": str(tmp_path / "none")}
    ran = subprocess.run(
        [sys.executable, "-W", "always", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "1 0\n"
    told = [line for line in ran.stderr.splitlines() if "AstjitWarning" in line]
    assert len(told) == 1
    assert told[0].startswith(f"{script}:9: ")
    assert "no C++ compiler" in told[0]


TYPED = """
import astjit

@astjit.compile
def f(x: int, eps: float = 1.0) -> str:
    return str(x + eps)

@astjit.compile(fullgraph=True)
def pair(x: int) -> tuple[int, str]:
    return x, ""

class Layer:
    @astjit.compile
    def forward(self, x: int) -> bytes:
        return bytes(x)

good: str = f(1, eps=2.0)
also_good: str = pair(1)[1]
a_method: bytes = Layer().forward(1)
text: str = f.cuda_source(1, arch="sm_80") + Layer.forward.ssa(Layer(), 1)
bytes_read: int = astjit.explain(f, 1).kernels[0].reads
f("wrong type")
f(1, wrong_name=1)
wrong_result: int = f(1)
"""
MYPY = """
[mypy]
strict = True
[mypy-astjit.*,torch.*]
follow_imports = silent
[mypy-libcst.*,jinja2.*,cuda.*,numpy.*]
follow_imports = skip
"""


@pytest.mark.slow
def test_type_checkers_see_the_originals_types(tmp_path):
    script, settings = tmp_path / "typed.py", tmp_path / "mypy.ini"
    script.write_text(TYPED)
    settings.write_text(MYPY)
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings)]
    command += ["--cache-dir", str(tmp_path), str(script)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    wrong = [int(line.split(":")[1]) for line in ran.stdout.splitlines() if ": error: " in line]
    last = len(TYPED.splitlines())
    assert wrong == [last - 2, last - 1, last], ran.stdout


PROCESS = """
import os, torch, astjit

@astjit.compile
def f(x, w):
    return torch.softmax(x * w, -1)

x, w = torch.randn(400, 900), torch.randn(900)
y = f(x, w)
torch.testing.assert_close(y, f.__wrapped__(x, w))
child = os.fork()
if not child:  # on one thread; PyTorch's own kernels would wait forever here
    os._exit(7 if f(x, w)[5].tolist() == y[5].tolist() else 8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(sum(f.cache_info()[4:6]))
"""


@pytest.mark.slow
def test_processes_share_an_empty_cache_at_once_and_fork(tmp_path):
    script = tmp_path / "process.py"
    script.write_text(PROCESS)
    environment = {**os.environ, "ASTJIT_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("CXX", None)  # where PyTorch runs the kernels the child waits for its threads
    running = [
        subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    assert [process.communicate()[0] for process in running] == ["1\n", "1\n"]
    assert len(list((tmp_path / "cache").rglob("*.so"))) == 1
