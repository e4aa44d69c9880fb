from astjit.runtime.texts import cuda_text, kernel_texts
from astjit.targets.nvrtc import compile_cuda
from tests.runtime.made import made

TWO = """
    fn f(%x: f32[n, k], %w: f32[k, m]):
      %h = add %x, 1.0 : f32[n, k]
      %p = matmul %h, %w : f32[n, m]
      %y = softmax %p {dim=-1} : f32[n, m]
      return %y
"""
SIZES = {"n": 3, "k": 4, "m": 5}


def test_all_kernels_in_one_text_that_compiles_alone():
    text = cuda_text(made(TWO, "cuda"), SIZES, {}, "sm_80")
    names = {group.kernel.name for group in made(TWO, "cuda").groups}
    assert len(names) == 2
    assert set(compile_cuda(text.source, "sm_80").resources) == names
    assert text.source.startswith("// nvrtc --gpu-architecture=sm_80 ")


def test_each_kernel_alone_in_both_languages():
    program = made(TWO)
    texts = kernel_texts(program, SIZES, {}, "sm_90")
    assert list(texts) == [group.kernel.name for group in program.groups]
    for name, text in texts.items():
        assert f'extern "C" void {name}_kernel(' in text.cpp
        assert list(compile_cuda(text.cuda, "sm_90").resources) == [name]
        assert "threads" in text.variant
