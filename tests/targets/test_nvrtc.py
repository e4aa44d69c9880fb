from concurrent.futures import ThreadPoolExecutor

import pytest

from astjit.errors import KernelBuildError, UsageError
from astjit.targets import nvrtc
from astjit.targets.nvrtc import ARCHES, Resources, compile_cuda, expand_arch, parse_resources

SCALE = """
extern "C" __global__ void __launch_bounds__(128)
scale(const float* __restrict__ x, float* __restrict__ y, int n, float factor) {
  __shared__ float slot[32];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x < 32) slot[threadIdx.x] = factor;
  __syncthreads();
  if (i < n) y[i] = x[i] * slot[i % 32] + 1.0f;
}
"""

SPILLING = """
extern "C" __global__ void __launch_bounds__(1024) reversed(const float* x, float* y, int n) {
  float a[80];
  #pragma unroll
  for (int i = 0; i < 80; ++i) a[i] = x[i * n + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 80; ++i) y[i * n + threadIdx.x] = a[i] * a[79 - i];
}
"""

CALLING = """
__device__ __noinline__ float through_memory(float a, int n) {
  volatile float room[16];
  room[n] = a;
  return room[n + 1];
}

extern "C" __global__ void first(float* x, int n) { x[n] = through_memory(x[0], n); }

extern "C" __global__ void second(float* x, int n) { x[n] += 1.0f; }
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_builds_an_elf_image_for_each_architecture_without_a_driver(arch):
    compiled = compile_cuda(SCALE, arch)
    assert compiled.cubin[:4] == b"\x7fELF"
    assert f"'scale' for '{arch}'" in compiled.log
    resources = compiled.resources["scale"]
    assert 4 <= resources.registers <= 24
    assert (resources.stack, resources.spill_stores, resources.spill_loads) == (0, 0, 0)
    assert resources.shared == 128


def test_multiply_and_add_stay_two_roundings():
    fused = compile_cuda(SCALE, "sm_90", options=("--gpu-architecture=sm_90", "--fmad=true"))
    assert compile_cuda(SCALE, "sm_90").cubin != fused.cubin
    assert "--fmad=false" in nvrtc.nvrtc_options("sm_90")


def test_spills_and_stack_are_reported():
    resources = compile_cuda(SPILLING, "sm_90").resources["reversed"]
    assert resources.spill_stores > 0
    assert resources.spill_loads > 0
    assert resources.stack > 0


def test_each_kernel_of_a_text_has_its_own_resources():
    resources = compile_cuda(CALLING, "sm_90").resources
    assert set(resources) == {"first", "second"}
    assert resources["first"].stack == 64  # the frame of the function it calls
    assert resources["second"].stack == 0


def test_log_without_shared_memory_or_stack_line():
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for k\n"
        "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 12 registers, used 0 barriers, 372 bytes cmem[0]\n"
        "ptxas info    : Function properties for _Z1fv\n"
        "ptxas         .     64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    )
    assert parse_resources(log) == {"k": Resources(12, 8, 4, 12, 0)}


def test_a_text_that_does_not_compile_shows_options_line_and_log():
    with pytest.raises(KernelBuildError) as caught:
        compile_cuda(SCALE.replace("slot[i % 32]", "slots[i % 32]"), "sm_90")
    assert caught.value.command == "nvrtc --gpu-architecture=sm_90 --std=c++17 --fmad=false"
    assert ">    8 |   if (i < n) y[i] = x[i] * slots[i % 32] + 1.0f;" in caught.value.output
    assert "     9 | }" in caught.value.output
    assert "    4 |" not in caught.value.output
    assert 'kernel.cu(8): error: identifier "slots" is undefined' in caught.value.output


def test_only_the_first_errors_are_excerpted():
    text = "\n\n\n\n\n\n\n\n".join(f"int a{i} = unknown{i};" for i in range(5))
    with pytest.raises(KernelBuildError) as caught:
        compile_cuda(text, "sm_90")
    assert caught.value.output.count(">") == 3


def test_an_option_that_nvrtc_refuses_is_named():
    with pytest.raises(KernelBuildError, match="--frobnicate"):
        compile_cuda(SCALE, "sm_90", options=("--frobnicate",))


def test_names_of_architectures_are_completed():
    assert expand_arch("sm_90") == "sm_90"
    assert expand_arch("90") == "sm_90"
    assert expand_arch(100) == "sm_100"
    assert expand_arch((8, 0)) == "sm_80"
    assert expand_arch((12, 0)) == "sm_120"
    assert expand_arch("sm_90a") == "sm_90a"


@pytest.mark.parametrize(
    ("arch", "why"),
    [
        ("sm_75", "older than sm_80"),
        ("sm_91", "unknown to the installed NVRTC"),
        ("hopper", "'hopper' is not a CUDA architecture"),
        ("", "is not a CUDA architecture"),
        ((99, 9), "sm_999 is unknown"),
    ],
)
def test_a_wrong_architecture_is_refused_with_the_right_ones(arch, why):
    with pytest.raises(UsageError, match=why) as caught:
        compile_cuda(SCALE, arch)
    assert "sm_80, " in caught.value.instead
    assert "sm_90" in caught.value.instead


def test_the_compiler_names_its_version():
    name, version = nvrtc.nvrtc_version().split()
    assert name == "nvrtc"
    assert float(version) >= 13.0


def test_threads_build_different_texts_at_once():
    texts = [SCALE.replace("scale", f"scale_{i}") for i in range(6)]
    with ThreadPoolExecutor(2) as pool:
        built = list(pool.map(lambda text: compile_cuda(text, "sm_90"), texts))
    assert [list(compiled.resources) for compiled in built] == [[f"scale_{i}"] for i in range(6)]
