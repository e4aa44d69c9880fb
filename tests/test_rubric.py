"""The rubric finds what it is for: each fault planted in a text that has none."""

import pytest

from tests import rubric

LINES = {3: "h = x + bias", 4: "return h.softmax(-1)"}
NAMES = ["h", "out"]
TEXT = """\
// One block per row.
extern "C" __global__ void __launch_bounds__(256)
softmax(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ out,
        int cols) {
  __shared__ float slots[2][8];
  const long long row_start = static_cast<long long>(blockIdx.x) * cols;
  Vec<float, 4> h_v[4];

  // h = x + bias   (model.py:3)
  float sum = 0.0f;
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    h_v[j] = load<4>(x + row_start + col);
    for (int v = 0; v < 4; ++v) {
      sum += h_v[j][v] + bias[col + v];
    }
  }
  sum = block_reduce<Sum, 256>(sum, slots[0]);

  // return h.softmax(-1)   (model.py:4)
  #pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int col = (j * 256 + threadIdx.x) * 4;
    store<4>(out + row_start + col, h_v[j], sum);
  }
}
"""
CPU = """\
extern "C" void softmax(const float* x, float* out, long rows, long cols, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* x_row = x + row * cols;
    const float sum = reduce<Sum>(0, cols, [&](long col, auto mask) INLINE {
      const vf x_v = load(x_row + col, mask);
      return x_v;
    });
    out[row] = sum;
  }
}
"""


def faults(old="", new="", text=TEXT, **options):
    assert old in text
    given = {"lines": LINES, "names": NAMES, **options}
    return rubric.faults(text.replace(old, new, 1) if old else text, **given)


def test_the_text_has_no_fault():
    assert faults(reference=TEXT) == []
    assert faults(text=CPU, lines={}, names=["x", "out"]) == []


def test_wide_lines():
    assert faults("  int cols", "  int cols" + " " * 89) == ["line 4 has 108 columns"]
    assert rubric.wide_lines("x" * 100) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("  float sum", "  const float spare = 1.0f;\n  float sum", "spare"),
        ("int cols", "int cols, float eps", "eps"),
        ("int cols", "int cols, const bfloat16* __restrict__ w", "w"),
        ("  Vec<float, 4> h_v[4];", "  Vec<float, 4> h_v[4];\n  Vec<float, 4> g_v[4];", "g_v"),
        ("h_v[j], sum);", "h_v[j], sum);\n    const long long last = 0;", "last"),
        ("  float sum", "  __shared__ unsigned more[2];\n  float sum", "more"),
    ],
)
def test_unused_names(old, new, name):
    assert faults(old, new) == [f"{name} is not used"]


def test_a_name_is_used_in_its_own_block_or_not_at_all():
    text = TEXT.replace("    store<4>(out + row_start + col", "    store<4>(out + row_start")
    assert rubric.unused_names(text) == ["col is not used"]
    text = TEXT.replace("(j * 256 + threadIdx.x) * 4;\n    h_v[j]", "0;\n    h_v[0]").replace(
        "h_v[j][v] +", "h_v[0][v] +"
    )
    assert rubric.unused_names(text) == []  # j is still compared with 4


def test_comments_do_not_use_names_and_pragmas_do():
    assert faults("  float sum", "  int spare = 1;  // spare\n  float sum") == ["spare is not used"]
    assert rubric.unused_names(CPU.replace("num_threads(threads) ", "")) == ["threads is not used"]


def test_names_of_lambdas():
    assert rubric.unused_names(CPU.replace("col, mask)", "col)")) == ["mask is not used"]


def test_hidden_names():
    new = "sum);\n    const float sum = 0.0f;\n    h_v[j] = sum;"
    assert faults("sum);", new) == ["sum is declared again in its own scope"]


def test_missing_names():
    assert faults(names=["h", "out", "rstd"]) == ["rstd is not a name"]
    assert rubric.missing_names("float hh = x;", ["h"]) == ["h is not a name"]


def test_comments():
    assert faults("  // return h.softmax(-1)   (model.py:4)\n") == ["line 4 is not quoted"]
    wrong = faults("// h = x + bias ", "// h = x - bias ")
    assert wrong == ["line 3 is quoted as 'h = x - bias'"]
    again = "  float sum = 0.0f;\n  // h = x + bias   (model.py:3)"
    assert faults("  float sum = 0.0f;", again) == ["line 3 is quoted more than once"]
    assert faults(lines={4: LINES[4]}) == ["line 3 is quoted as 'h = x + bias'"]
    swapped = {"h = x + bias   (model.py:3)": "A", "return h.softmax(-1)   (model.py:4)": "B"}
    text = TEXT
    for old, new in swapped.items():
        text = text.replace(old, new)
    text = text.replace("A", "return h.softmax(-1)   (model.py:4)")
    text = text.replace("// B", "// h = x + bias   (model.py:3)")
    assert faults(text=text) == ["lines are quoted out of order"]


def test_stages():
    (fault,) = rubric.stage_faults(TEXT.replace("\n  // return h.softmax(-1)   (model.py:4)\n", ""))
    assert fault.startswith("'for (int j = 0;")
    assert "follows another stage" in fault
    assert rubric.stage_faults(TEXT.replace("  // return h.softmax(-1)   (model.py:4)\n", "")) == []


def test_long_texts():
    short = "\n\n".join(TEXT.splitlines()[:17])
    assert faults(reference=short) == ["25 lines against 16"]
    assert rubric.long_faults("a\n" * 15, "a\n" * 10) == []
    assert rubric.long_faults("a\n" * 16, "a\n" * 10) == ["16 lines against 10"]


def test_structure():
    assert rubric.structure(TEXT) == {"loads": 1, "stores": 1, "reductions": 1}
    assert rubric.structure(CPU) == {"loads": 1, "stores": 0, "reductions": 1}
    assert rubric.structure("// load(x)\nload_strided<4>(x); reduce_each<Max>(y);") == {
        "loads": 1,
        "stores": 0,
        "reductions": 1,
    }


def test_the_kernel_section_of_a_whole_text():
    helpers = "// nvrtc\n\nstruct Sum {\n};\n\n// A helper.\nint f();\n\n"
    assert rubric.kernel_section(helpers + TEXT) == TEXT
    assert rubric.kernel_section(TEXT.partition("\n")[2]) == TEXT.partition("\n")[2]
