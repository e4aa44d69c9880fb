import weakref

import pytest
import torch

from astjit.runtime import kept
from astjit.runtime.kept import Classes, Tensors


class Base:
    power = 1


class Derived(Base):
    def run(self):
        return 1


def remembers(memory, *given, found=("found",)):
    """Whether it answers with what was found at the last call; it is given this call's."""
    version, known = memory.ask(*given)
    if known is None:
        memory.keep(version, found)
    return known == found


def settled(*classes):
    """A memory of classes after enough calls to have kept something."""
    for cls in classes:
        cls.__eq__  # a lookup gives a class its number  # noqa: B018
    memory = Classes(classes)
    assert not remembers(memory)
    assert remembers(memory)
    return memory


def test_classes_have_versions_here():
    assert kept._NUMBERED


def added(cls):
    cls.added = 1


def shadowed(cls):
    cls.power = 2


def replaced(cls):
    cls.run = lambda self: 2


def removed(cls):
    del cls.run


def put_back(cls):
    run = cls.run
    del cls.run
    cls.run = run


def of_a_base(cls):
    cls.__bases__[0].power = 3


def other_bases(cls):
    cls.__bases__ = (type("Other", (), {"power": 1}),)


@pytest.mark.parametrize(
    "change", [added, shadowed, replaced, removed, put_back, of_a_base, other_bases]
)
def test_a_change_of_a_class_is_noticed(change):
    base = type("Base", (), {"power": 1})
    derived = type("Derived", (base,), {"run": lambda self: 1})
    memory = settled(Base, derived)
    change(derived)
    assert not remembers(memory)
    derived.power  # noqa: B018
    assert memory.ask()[1] is None
    derived.__eq__  # noqa: B018
    assert not remembers(memory)
    assert remembers(memory)


def test_a_change_while_classes_are_asked_is_noticed():
    cls = type("Changing", (), {"a": 1})
    cls.a  # noqa: B018
    memory = Classes((cls,))
    version, found = memory.ask()
    assert found is None
    cls.a = 2
    cls.a  # noqa: B018
    memory.keep(version, ("old",))
    assert memory.ask()[1] is None


def test_a_class_without_a_number_is_never_remembered():
    cls = type("Fresh", (), {"a": 1})
    cls.a  # noqa: B018
    cls.a = 2  # takes the number away
    memory = Classes((cls,))
    memory.keep(memory.ask()[0], ("found",))
    assert memory.ask()[1] is None


def test_no_classes_are_never_remembered():
    memory = Classes(())
    memory.keep(memory.ask()[0], ("found",))
    assert memory.ask()[1] is None


def test_interpreters_without_versions_ask_each_time(monkeypatch):
    monkeypatch.setattr(kept, "_NUMBERED", False)
    memory = Classes((Base,))
    assert not remembers(memory)
    assert not remembers(memory)


class Odd(torch.Tensor):
    pass


def base():
    return torch.ones(3, 4)


@pytest.mark.parametrize(
    "other",
    [
        lambda: base().double(),
        lambda: base().to("meta"),
        lambda: torch.ones(4, 4),
        lambda: torch.ones(3, 4, 1),
        lambda: torch.ones(4, 3).t(),
        lambda: torch.ones(3, 8)[:, ::2],
        lambda: base().requires_grad_(),
        lambda: torch.nn.Parameter(base(), requires_grad=False),
        lambda: base().as_subclass(Odd),
        lambda: base()._neg_view(),
        lambda: base().to_sparse(),
        lambda: 3,
        lambda: None,
    ],
)
def test_another_tensor_is_noticed(other):
    memory, one = Tensors(), base()
    assert not remembers(memory, one, base())
    assert remembers(memory, one, base())
    assert memory._kept[0].hold((one, other())) is False
    assert remembers(memory, base(), base())


def swap_data(tensor):
    tensor.data = torch.ones(5)


def grow(tensor):
    tensor.resize_(7)


def want_grad(tensor):
    tensor.requires_grad_()


def turn(tensor):
    tensor.t_()


@pytest.mark.parametrize("change", [swap_data, grow, want_grad, turn])
def test_a_tensor_that_changed_in_place_is_noticed(change):
    memory, one, two = Tensors(), base(), base()
    assert not remembers(memory, one, two)
    assert remembers(memory, one, two)
    change(two)
    assert not remembers(memory, one, two)
    assert remembers(memory, one, two)


def test_a_conjugate_is_noticed():
    memory, one = Tensors(), torch.ones(3, dtype=torch.complex64)
    assert not remembers(memory, one)
    assert memory.ask(one.conj())[1] is None


def test_tensors_that_are_one_object():
    memory, one, two = Tensors(), base(), base()
    assert not remembers(memory, one, two, one)
    assert remembers(memory, one, two, one)
    assert remembers(memory, two, one, two)
    assert not remembers(memory, one, two, base()), "the third was the first"
    assert remembers(memory, one, two, base())
    assert not remembers(memory, one, one, two)


def test_tensors_that_change_while_they_are_asked_are_not_remembered():
    memory, one = Tensors(), base()
    version, _ = memory.ask(one)
    one.data = torch.ones(5)
    memory.keep(version, ("old",))
    assert memory.ask(one)[1] is None


def test_tensors_that_never_stay_alike_are_given_up():
    memory = Tensors()
    for size in range(2, 40):
        assert not remembers(memory, torch.ones(size))
    assert not remembers(memory, torch.ones(39))


def test_no_tensor_is_held():
    memory, one = Tensors(), base()
    freed = []
    remembers(memory, one)
    weakref.finalize(one, freed.append, 1)
    del one
    assert freed == [1]


def test_without_the_private_comparison_tensors_are_asked_each_time(monkeypatch):
    monkeypatch.setattr(kept, "tensor_guards", lambda: None)
    memory = Tensors()
    assert not remembers(memory, base())
    assert not remembers(memory, base())
