"""Counted loops during capture: the body is captured once, for all iterations.

    for t in range(n):        %h_2, %ys = for %h {trip=n, index="t"} {
        h = h * d + x[t]        body(%t, %h_1):
        ys.append(h)              %0 = select_at %x {dim=0, index=t} ; ... ; yield %h_3, %h_3
                              }

`Loop` is what the rewritten loop iterates over. It gives the body its variables as parameters, and
the number of the iteration as a size; what it finds at the body's end says what is carried
(frontend/loop_ends.py). Whatever speaks against it raises, and the capture starts anew with this
loop's iterations apart, as does any capture that fails after a loop was taken whole.
"""

from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from astjit.frontend.carriers import Int, Number, carrier
from astjit.frontend.counted import Plan
from astjit.frontend.loop_ends import Ends, Entry
from astjit.frontend.loop_sizes import symbol_of
from astjit.frontend.session import Session, iterate
from astjit.frontend.stops import here
from astjit.frontend.symbolic import SymbolicTensor
from astjit.frontend.traces import Trace
from astjit.ir.function import Block
from astjit.ir.value import Param
from astjit.types.shape import Dim, add, floordiv, hint, mul, sub

FEW = 4  # iterations that are as well captured one by one


class Loop:
    """One loop over a range.

    Args:
        session: the capture.
        code: of the function that it is in.
        where: its line and column.
        plan: what it does to names: see counted.py.
        backwards: the range is reversed.
        function: what the name `range` stands for.
        bounds: what that is given.

    Attributes:
        given: for the body, its variables.
        ends: after the loop, its variables.
    """

    def __init__(
        self,
        session: Session,
        code: CodeType,
        where: tuple[int, int],
        plan: Plan,
        backwards: bool,
        function: object,
        *bounds: object,
    ) -> None:
        self.session, self.capture = session, session.capture
        self.site = code, where
        self.plan, self.backwards, self.function, self.bounds = plan, backwards, function, bounds
        self.given: dict[str, object] = {}
        self.ends: dict[str, object] = {}
        self.entry: Entry | None = None

    def __iter__(self) -> Iterator[object]:
        counted = self._counted()
        if counted is None:
            values = self.session.call(self.function, *self.bounds)
            if self.backwards:
                values = self.session.call(reversed, values)
            yield from iterate(self.session, values)  # type: ignore[misc]
            return
        (start, step, trip), apart = counted, self.session.apart.get(self.site, 0)
        assert apart is not None
        self.session.tried.append(self.site)
        for count in range(apart):
            yield self._number(add(start, mul(count, step)))
        yield self._begin(add(start, mul(apart, step)), step, sub(trip, apart))

    # -- what is counted ------------------------------------------------------------------------
    def _counted(self) -> tuple[Dim, int, Dim] | None:
        """The first number, the step and how many there are; None where iterations are apart."""
        if self.function is not range or self.session.apart.get(self.site, 0) is None:
            return None
        if self.capture.trace is not None or not 1 <= len(self.bounds) <= 3:
            return None
        bounds = self.bounds if len(self.bounds) > 1 else (0, *self.bounds)
        if not all(type(b) in (int, Int) for b in bounds):
            return None
        step = bounds[2] if len(bounds) == 3 else 1
        if not isinstance(step, int) or not step:
            return None
        dims = [b if isinstance(b, int) else self.capture.size_of(b.node.number) for b in bounds]  # type: ignore[attr-defined]
        start, stop = dims[:2]
        if start is None or stop is None:
            return None
        trip = sub(stop, start) if step > 0 else sub(start, stop)
        if abs(step) > 1:
            trip = floordiv(add(trip, abs(step) - 1), abs(step))
        if not self.capture.sizes.holds("<", FEW, trip):
            return None
        if self.backwards:
            start, step = add(start, mul(step, sub(trip, 1))), -step
        return start, step, trip

    def _number(self, dim: Dim) -> object:
        return carrier(self.capture, Number(hint(dim), self.capture.dim_text(dim), dim))

    def _begin(self, start: Dim, step: int, trip: Dim) -> object:
        capture, (target,) = self.capture, self.plan[4]
        name = capture.fresh(target, own=True)
        capture.size_paths[name] = target
        capture.sizes.trips[name] = trip
        block = Block()
        self.entry = Entry(name, start, step, trip, capture.builder.block, block, here())
        capture.trace, capture.builder.block = Trace(), block
        return self._number(add(start, mul(step, symbol_of(name))))

    # -- around the body ------------------------------------------------------------------------
    def enter(self, variables: Mapping[str, Any]) -> None:
        """Give the body parameters in the place of the tensors that it may carry."""
        if self.entry is None:
            return
        self.entry.before = {n: v for n, v in variables.items() if not isinstance(v, Loop)}
        carried, assigned, live = self.plan[:3]
        for name in sorted({*carried, *(set(assigned) & set(live))}):
            if isinstance(held := variables.get(name), SymbolicTensor):
                self.entry.firsts[name] = param = Param(held.kind, name)
                self.entry.params[name] = made = self.capture.fresh_tensor(param)
                if name in carried:
                    self.given[name] = made

    def leave(self, variables: Mapping[str, Any]) -> None:
        """The end of the body: what is bound after the loop.

        Raises:
            Unlooped: if the iterations are not alike.
        """
        if self.entry is None:
            return
        ends = Ends(self.session, self.plan, self.entry, dict(variables))
        ends.check()
        self.entry = None
        self.ends = ends.close()
