import pytest
import torch

from astjit.frontend.stops import RAISED, Stop
from astjit.frontend.symbolic import CURRENT, Mode, SymbolicTensor, symbolic
from astjit.ir.value import Param
from astjit.types.dtype import F32
from astjit.types.tensor import TensorType


class Recorder:
    """Answers every torch call with its name."""

    def __init__(self):
        self.calls = []

    def torch_call(self, func, args, kwargs):
        self.calls.append((getattr(func, "__name__", ""), args, kwargs))
        return "answer"


@pytest.fixture
def recorder():
    CURRENT.handler = made = Recorder()
    yield made
    CURRENT.handler = None
    RAISED.first = None


def tensor():
    kind = TensorType(F32, (2, 3))
    return symbolic(Param(kind, "x", "x"), kind, (2, 3), (3, 1), torch.float32)


def test_every_torch_function_reaches_the_handler(recorder):
    x = tensor()
    assert (x + 1, torch.exp(x), x.sum(-1, keepdim=True), x.shape) == ("answer",) * 4
    assert [name for name, _, _ in recorder.calls] == ["add", "exp", "sum", "__get__"]
    assert recorder.calls[2][1:] == ((x, -1), {"keepdim": True})


def test_the_mode_sees_what_has_no_symbolic_operand(recorder):
    with Mode():
        assert torch.zeros(3) == "answer"
    assert recorder.calls[0][:2] == ("zeros", (3,))


def test_outside_of_a_capture_it_raises():
    with pytest.raises(RuntimeError, match="used after its capture"):
        tensor() + 1
    assert repr(tensor()) == "SymbolicTensor(f32[2, 3])"


def test_text_copies_and_kernels_end_the_capture(recorder):
    x = tensor()
    for read in (repr, "{}".format, lambda x: x.__deepcopy__({}), lambda x: x.__reduce_ex__(2)):
        with pytest.raises(Stop):
            read(x)
    with pytest.raises(Stop, match="C\\+\\+ code reached"):
        SymbolicTensor.__torch_dispatch__("f", ())
    assert {x: 1}[x] == 1
