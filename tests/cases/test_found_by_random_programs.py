"""What random programs found: each row is the smallest program of one kind of fault.

A row runs once as written and once compiled, and is compared as random programs are: values, types,
strides, memory, identity, effects and exceptions after each call.
"""

import textwrap

import pytest

from tests.programs.program import Call, Program
from tests.programs.world import run_program


def row(name, text, *calls, captured=None):
    """A function `f`, the arguments of its calls, and how many a compiled program answers."""
    module = (
        "import math",
        "import torch",
        "import torch.nn.functional as F",
        textwrap.dedent(text).strip(),
    )
    made = tuple(Call((), f"f({call})") for call in calls)
    whole = len(calls) if captured is None else captured
    return pytest.param(Program(module, made), whole, id=name)


ROWS = [
    row(
        "computed sizes that are 1 make a tensor contiguous",
        """
        def f(x):
            z = x[..., ::2]
            if z[1:].is_contiguous():
                return x + 1, z.reshape(-1), z[1:].view(-1), z.contiguous(), z[0].squeeze()
            return x + 2, z.squeeze(), z.mT.contiguous()
        """,
        *(f"torch.ones({n}, {m})" for n in (2, 3) for m in (1, 2, 3, 0)),
    ),
    row(
        "a diagonal of one element is written and reshaped",
        """
        def f(x, y):
            d = y.diagonal()
            e = y.expand(2, -1).diagonal() + y
            e[-2:] = x[0]
            return d.reshape(d.shape[0], -1)[0], e, torch.diagonal(x[::2] * 2, 0, 0, 1)
        """,
        "torch.ones(2, 1), torch.ones(2, 1)",
        "torch.ones(2, 3), torch.ones(1, 3)",
        captured=1,
    ),
    row(
        "a step leaves one element, which is unflattened",
        "def f(x):\n    return x[::2, None].unflatten(-2, (1, 1)), x[::2].unflatten(0, (1, -1))",
        "torch.ones(1, 5).expand(2, 5)",
        "torch.ones(3, 5)",
    ),
    row(
        "a shape is given by computed sizes that are 1",
        """
        def f(x):
            part = x.reshape(x.shape[0] // 2, -1)
            pair = x[:, 0].reshape(-1, 2)
            part.mul_(2)
            return x, part, pair, x.view(x.shape[0] // 2, *x.shape[1:]) if x.shape[0] < 2 else 0
        """,
        "torch.arange(18.0).view(3, 6)[..., ::2][:2]",
        "torch.arange(48.0).view(4, 12)[..., ::2]",
        "torch.arange(6.0).view(2, 3)",
    ),
    row(
        "strides of a tensor without elements",
        "def f(x):\n    return x + 1, x.stride(), x.shape, x.mT.stride(0)",
        "torch.ones(3, 4)",
        "torch.ones(3, 0)",
        "torch.ones(0, 3).mT",
        "torch.ones(2, 4)",
        captured=2,
    ),
    row(
        "as_strided sees what lies between the elements of its tensor",
        """
        def f(x):
            part = x[1:]
            x.zero_()
            return part.as_strided((2,), (1,)) * 2
        """,
        "torch.arange(12.0).view(3, 4)[..., ::2]",
        captured=1,
    ),
    row(
        "a slice that takes all of an axis is contiguous",
        """
        def f(x, y):
            part = x[:, :4]
            other = y[:, : x.shape[1]]
            whole = other.contiguous()
            whole += 1
            return part.is_contiguous(), part.contiguous(), whole, other.is_contiguous()
        """,
        *(f"torch.ones(3, {n}), torch.ones(2, {m})" for n, m in ((4, 4), (5, 5), (4, 5), (6, 6))),
    ),
    row(
        "numbers that are zero, infinite or NaN",
        """
        def f(x, n):
            try:
                whole = math.floor(n), math.ceil(n), math.trunc(n)
            except OverflowError as error:
                whole = str(error)
            except ValueError as error:
                whole = [str(error)]
            return x + 1, abs(n), -n, +n, n + 0, 0 * n, whole, bool(n), max(n, 0), min(0, n)
        """,
        *(f"torch.ones(2), {n}" for n in ("-0.0", "0.0", "-2.5", "1.5", "0", "-3")),
        *(f"torch.ones(2), float('{n}')" for n in ("inf", "-inf", "nan")),
        captured=8,
    ),
    row(
        "an output of another dtype that the operation refuses",
        """
        def f(x, out, wide):
            torch.add(x, 1, out=wide)
            torch.neg(x, out=out)
            return wide
        """,
        "torch.ones(2), torch.zeros(2), torch.zeros(2, dtype=torch.float64)",
        "torch.ones(2).bfloat16(), torch.zeros(2), torch.zeros(2)",
    ),
    row(
        "a clamp of bools whose result nobody uses, which eager refuses",
        """
        def f(x, low=None, high=None):
            x.isnan().clamp(low, high)
            return x
        """,
        *(f"torch.ones(2), {bounds}" for bounds in ("True", "low=False, high=True", "high=True")),
        *(f"torch.ones(2), {bounds}" for bounds in ("1", "torch.zeros(2, dtype=torch.bool)")),
        captured=2,
    ),
    row(
        "a product of matrices of bools that nobody uses, which eager has no kernel for",
        """
        def f(x, w):
            x @ x.mT, F.linear(w, w)
            return x, w
        """,
        "torch.ones(4, 3, 2, dtype=torch.bool), torch.ones(2, 2)",
        "torch.ones(4, 3, 2), torch.ones(2, 2, dtype=torch.bool)",
        "torch.ones(4, 3, 2), torch.ones(2, 2)",
        captured=3,
    ),
    row(
        "a number that is no number, taken as it is, in a comparison with one that is kept",
        """
        def f(x, n=2.0):
            power = n**2
            if n - power > 1 or n * power < -7:
                return x + 1
            return x - n
        """,
        *(f"torch.ones(2), {n}" for n in ("2.0", "-3.0", "-1.0")),
        *(f"torch.ones(2), n=float('{n}')" for n in ("nan", "inf", "-inf")),
        captured=6,
    ),
]


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """Kernels run through PyTorch: the front end is what is tested, and it is quicker."""
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.mark.parametrize(("program", "captured"), ROWS)
def test_as_eager(program, captured):
    outcome = run_program(program)
    assert outcome.fault is None, f"call {outcome.fault.call}: {outcome.fault.difference}"
    assert outcome.captured == captured, outcome.reasons
