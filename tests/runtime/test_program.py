from tests.runtime.made import RMS_NORM, made

MIXED = """
    fn f(%x: f32[n] @cuda:0, %y: f32[n] @cuda:0):
      %z = add %x, %y : f32[n] @cuda:0
      return %z
"""


def test_its_kernels():
    assert [group.kernel.name for group in made(RMS_NORM).groups] == ["rms_norm"]


def test_one_unit_on_the_cpu_and_none_on_cuda():
    assert list(made(RMS_NORM).unit.entries) == ["rms_norm"]
    assert made(RMS_NORM, "cuda").unit is None
    assert made("fn f(%x: f32[n]):\n  return %x").unit is None


def test_tensors_that_kernels_cannot_reach():
    assert made(MIXED, "cuda").misplaced == ""
    assert made(MIXED, "cpu").misplaced == "x is on cuda:0, the kernels are for cpu"
    assert made(RMS_NORM, "cuda").misplaced == "x is on cpu, the kernels are for cuda"


def test_a_program_depends_on_no_size():
    text = made(RMS_NORM).host.text
    other = made(RMS_NORM.replace("x0", "rows")).host.text
    assert text.replace("x0", "rows") == other
