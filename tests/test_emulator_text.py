"""Kernel text is taken apart at the right places."""

import pytest

from tests.emulator.text import (
    Kernel,
    Parameter,
    parse_kernels,
    place_shared_variables,
    split_definitions,
    without_comments,
)

HELPERS = """// A comment that belongs to the first definition (with a bracket.
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T lane[V];

  __device__ T& operator[](int v) { return lane[v]; }
};

#define INFINITY __int_as_float(0x7f800000)

using index = long long;

typedef unsigned char byte;

struct Sum {
  static __device__ float combine(float a, float b) { return a + b; }
};

template <class Op, int NT = (1 + 31)>
__device__ __forceinline__ float block_reduce(float v, float* slot) {
  v += 1.0f;

  return v;  // }
}

__device__ const float table[2] = {1.0f, 2.0f};

constexpr int kLimit = 4;

extern "C" __device__ Vec<float, 4> load(const float* p);


template <int V> __device__ __forceinline__ Vec<float, V> load(const float* p, int left) {
  return {};
}
"""


def test_helper_sections_split_at_blank_lines_outside_brackets():
    definitions = split_definitions(HELPERS)
    assert [(d.name, d.line) for d in definitions] == [
        ("Vec", 1),
        ("INFINITY", 9),
        ("index", 11),
        ("byte", 13),
        ("Sum", 15),
        ("block_reduce", 19),
        ("table", 26),
        ("kLimit", 28),
        ("load", 30),
        ("load", 33),
    ]
    assert definitions[5].text.endswith("  return v;  // }\n}")
    assert "\n\n".join(d.text for d in definitions[:9]) in HELPERS
    assert split_definitions("\n\n") == []


def test_comments_and_strings_are_blanked_in_place():
    text = 'a /* { \n } */ b // (\nc("}\\"") d'
    assert without_comments(text) == "a      \n      b     \nc(     ) d"


def test_kernels_and_their_parameters_are_found():
    text = """
extern "C" __global__ void __launch_bounds__(128, 2)
row(const float* __restrict__ x, float *y, const long long n, Vec<float, 4> scale) {}

__global__ void plain() {}

// __global__ void commented(int n) {}
template <int V> __global__ void generic(float* y) {}

__global__ __launch_bounds__(NT) void named(float const* a, bfloat16* __restrict__ b) {}
"""
    assert parse_kernels(text) == {
        "row": Kernel(
            "row",
            (
                Parameter("x", pointer=True, writable=False),
                Parameter("y", pointer=True, writable=True),
                Parameter("n", pointer=False, writable=False),
                Parameter("scale", pointer=False, writable=False),
            ),
            128,
        ),
        "plain": Kernel("plain", (), None),
        "named": Kernel(
            "named",
            (
                Parameter("a", pointer=True, writable=False),
                Parameter("b", pointer=True, writable=True),
            ),
            None,
        ),
    }


@pytest.mark.parametrize(
    ("declaration", "placed"),
    [
        (
            "__shared__ float slots[2][8];",
            "auto& slots = emulator::static_shared<float [2][8], 0>"
            '(__PRETTY_FUNCTION__, 0, "slots");',
        ),
        (
            "__shared__ bool last;",
            'auto& last = emulator::static_shared<bool , 0>(__PRETTY_FUNCTION__, 0, "last");',
        ),
        (
            "__shared__ alignas(16) Vec<float, 4> tile[NT / 32][33];",
            "auto& tile = emulator::static_shared<Vec<float, 4> [NT / 32][33], 16>"
            '(__PRETTY_FUNCTION__, 0, "tile");',
        ),
        (
            "extern __shared__ __align__(16) unsigned char bytes[];",
            "unsigned char* const bytes = emulator::dynamic_shared<unsigned char>();",
        ),
    ],
)
def test_shared_declarations_get_storage(declaration, placed):
    text = f"int before;\n  {declaration}  // __shared__ in a comment\nint after;\n"
    assert place_shared_variables(text) == text.replace(declaration, placed)


def test_several_shared_variables_in_one_declaration_are_refused():
    with pytest.raises(ValueError, match="one __shared__ variable per declaration"):
        place_shared_variables("__shared__ float a[4], b[4];")
