import torch

from astjit.runtime.reference import reference


def test_numbers_and_narrow_tensors():
    seen = []

    def f(x, n, k):
        seen.append((type(x), type(n), type(k)))
        return x * n

    half = torch.tensor([0.5, 1.0], dtype=torch.float16)
    made = reference(f, (half, torch.tensor([1, 2]), "k"))
    assert made.dtype is torch.float16
    assert seen[0] == (torch.Tensor, int, str)
    seen.clear()
    assert reference(f, (half.double(), torch.tensor(3), 1)).tolist() == [1.5, 3.0]
    assert seen[0] == (float, int, int)


def test_results():
    def f(x, *rest):
        return (x > 0, 1 if x > 0 else 2.0, len(rest))

    a, b, c = reference(f, (torch.tensor([[1.0], [-1.0]]), (torch.ones(2), 1)))
    assert a.dtype is torch.bool
    assert b.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert b.dtype is torch.float32
    assert c.shape == (2, 2)
    assert reference(lambda x: x, (torch.ones(0, 3),)).shape == (0, 3)


def test_torch_functions_get_tensors():
    x = torch.tensor([0.0], dtype=torch.float64)
    assert reference(lambda v: torch.exp(v), (x,)).tolist() == [1.0]
