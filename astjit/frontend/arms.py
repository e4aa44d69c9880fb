"""An `if` on a tensor during capture: both arms are captured, and one `if` of the SSA runs one.

    if t:                     %c = ne %t, 0
        y = x * 2             %y = if %c {
    else:                       then(): %0 = mul %x, 2 ; yield %0
        y = x + 1               else(): %1 = add %x, 1 ; yield %1
                              }

`Choice` is what the rewritten `if` asks (frontend/branching.py). It lets both arms run, the second
one from the variables that the first one found, and joins what they end with
(frontend/arm_ends.py). Whatever speaks against it raises, and the capture starts anew with this
`if` as Python's own, as does any capture that an arm ends (frontend/branches.py).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from astjit.frontend.arm_ends import Arm, joined
from astjit.frontend.branches import Branch, Site, Unbranched, is_single
from astjit.frontend.branching import Arms
from astjit.frontend.session import Session, test
from astjit.frontend.stops import here
from astjit.frontend.symbolic import SymbolicTensor
from astjit.frontend.traces import Trace
from astjit.ir.function import Block
from astjit.ir.value import Value
from astjit.types.dtype import BOOL


def branch(session: Session, value: object) -> object:
    """The condition of an `if`, or of a ternary.

    Raises:
        Branch: for a tensor of one element, of which both arms were not tried yet.
        Stop: for any other tensor.
    """
    tensor = isinstance(value, SymbolicTensor)
    if tensor and is_single(value.kind, session.capture.sizes):  # type: ignore[attr-defined]
        site = session.branches.asked()
        if site is not None:
            raise Branch(site)
    return test(session, value)


class Choice:
    """One `if`.

    Args:
        session: the capture.
        file: of the function that it is in.
        where: line and column of its condition.
        arms: what they do to names.
        value: the condition.

    Attributes:
        given: for the arm that begins, variables that the other one bound anew.
        gone: variables that are not bound: for the arm that begins, and after the `if`.
        ends: after the `if`, variables that it binds.
    """

    def __init__(
        self, session: Session, file: str, where: tuple[int, int], arms: Arms, value: object
    ) -> None:
        self.session, self.capture, self.value = session, session.capture, value
        self.site: Site = (file, *where)
        self.assigned, self.live = arms
        self.given: dict[str, object] = {}
        self.gone: tuple[str, ...] = ()
        self.ends: dict[str, object] = {}
        self.before: dict[str, object] | None = None
        self.made: list[Arm] = []
        self.both = isinstance(value, SymbolicTensor) and is_single(
            value.kind, session.capture.sizes
        )

    def __iter__(self) -> Iterator[bool]:
        if not self.both:
            yield bool(test(self.session, self.value))
            return
        capture, sites = self.capture, self.session.branches
        sites.begin(self.site)
        condition, outer, trace = self._condition(), capture.builder.block, capture.trace
        location = here()
        for taken in (True, False):
            capture.trace, capture.builder.block = Trace(), Block()
            yield taken
            capture.trace, capture.builder.block = trace, outer
        self.ends, self.gone = joined(self.session, self, condition, location)
        sites.open.pop()

    def _condition(self) -> Value:
        """Whether the tensor is true, as one bool without axes."""
        emit, tensor = self.capture.emit, self.value
        assert isinstance(tensor, SymbolicTensor)
        made: Value = tensor.value
        for _ in tensor.kind.dims:
            made = emit("select", made, dim=0, index=0)
        return made if tensor.kind.dtype is BOOL else emit("ne", made, 0)

    # -- around the arms ------------------------------------------------------------------------
    def enter(self, variables: Mapping[str, Any]) -> None:
        """Let an arm begin with the variables as the `if` found them."""
        if not self.both:
            return
        bound = {n: v for n, v in variables.items() if n in self.assigned}
        if self.before is None:
            self.before, self.grad = bound, torch.is_grad_enabled()
            return
        self.given = self.before
        self.gone = tuple(n for n in bound if n not in self.before)

    def leave(self, variables: Mapping[str, Any]) -> None:
        """The end of an arm.

        Raises:
            Unbranched: if it did more than compute.
        """
        if not self.both:
            return
        trace, capture = self.capture.trace, self.capture
        assert trace is not None
        if trace.writes or trace.appends:
            raise Unbranched("an arm writes to what was there before it")
        if torch.is_grad_enabled() is not self.grad:
            raise Unbranched("an arm switches gradients")
        bound = {n: v for n, v in variables.items() if n in self.assigned}
        tensors = ((n, bound.get(n)) for n in self.live)
        values = {n: t.value for n, t in tensors if isinstance(t, SymbolicTensor)}
        self.made.append(Arm(bound, values, trace.own, capture.builder.block))
        self.gone, self.given = (), {}


def chosen(
    session: Session,
    file: str,
    where: tuple[int, int],
    value: object,
    then: Callable[[], object],
    other: Callable[[], object],
) -> object:
    """`a if value else b`, of which both arms are captured if the value is a tensor."""
    choice = Choice(session, file, where, (_VALUE, _VALUE), value)
    made: object = None
    for taken in choice:
        choice.enter({})
        made = then() if taken else other()
        choice.leave(dict.fromkeys(_VALUE, made))
    return choice.ends.get(*_VALUE, made)


_VALUE = ("value",)
