"""What a dtype holds is what eager converts without an error."""

import pytest
import torch

from astjit.ops.held import held
from astjit.types.dtype import BF16, F16, F32, F64, I64
from astjit.types.tensor import PY_FLOAT, PY_INT, TensorType
from tests.ops.rows import TorchValue
from tests.ops.test_table import DTYPES, rows

NUMBERS = [0, 1, -1, 44, 127, 128, -128, -129, 255, 256, -255, -256, 2**31 - 1, 2**31, -(2**31)]
NUMBERS += [2**62, 1.0, 65504.0, 65505.0, 7e4, -7e4, 3.3e38, 3.4e38, 3.5e38, 1e300]
NUMBERS += [float("inf"), float("-inf"), float("nan"), True]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_number_that_eager_refuses_is_not_held(dtype):
    x = torch.zeros(2, dtype=rows.torch_dtype(dtype))
    for number in NUMBERS:
        try:
            torch.full_like(x, number)
            fits = True
        except RuntimeError:
            fits = False
        assert held(number, dtype) == fits, number


def test_a_number_of_run_time_fits_what_is_wide():
    some, whole = TorchValue(None, PY_FLOAT), TorchValue(None, PY_INT)
    assert [held(some, d) for d in (F64, F32, BF16, F16, I64)] == [True, True, True, False, False]
    assert [held(whole, d) for d in (F32, I64, F16)] == [True, True, False]
    assert held(None, F16)
    assert held(TorchValue(None, TensorType(F64, ())), F16)
