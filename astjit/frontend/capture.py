"""One capture: the SSA function that grows, its inputs, its numbers and its guards."""

import builtins
from collections.abc import Iterable, Mapping, Sequence

import torch

from astjit.config import Config
from astjit.errors import AstjitError
from astjit.frontend import torch_api
from astjit.frontend.branches import Either
from astjit.frontend.carriers import Number, Plain, carrier
from astjit.frontend.equalities import equalities, root
from astjit.frontend.layouts import dtype_of, input_type, pinned
from astjit.frontend.loop_sizes import LoopSizes
from astjit.frontend.memory import Place, Step, Storage, laid_out, refuse_overlap
from astjit.frontend.positions import size_of
from astjit.frontend.reads import Guard, Reads, readable
from astjit.frontend.stops import Failed, NeedsGrad, Stop, here
from astjit.frontend.symbolic import SymbolicTensor, symbolic
from astjit.frontend.traces import COMPARE, Trace, same_throughout
from astjit.ir.builder import Builder
from astjit.ir.function import Function, Node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ops.spec import FieldValue, Op
from astjit.ops.table import OPS
from astjit.types.dtype import BY_TORCH
from astjit.types.shape import Dim, Predicate, Sym, hint, text
from astjit.types.tensor import PY_FLOAT, PY_INT, ScalarType, TensorType

_HOST_ROWS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "sqrt": "sqrt"}


class Capture:
    """Builds one Function. Satisfies Emitter of ops/spec.py and Keeper of carriers.py.

    Args:
        name: the user's name for the function.
        reads: filled with guards.
        config: options.
        taken: names that sizes must not have.
        sized: see Segment.
    """

    def __init__(
        self,
        name: str,
        reads: Reads,
        config: Config,
        taken: Iterable[str] = (),
        sized: dict[str, int | None] | None = None,
    ) -> None:
        self.sized: dict[str, int | None] = {} if sized is None else sized
        self.function = Function(name)
        self.reads, self.config = reads, config
        self.sizes = LoopSizes()
        self.trace: Trace | None = None  # of a loop's body, while that is captured
        self.either = Either()
        default = BY_TORCH[str(torch.get_default_dtype()).removeprefix("torch.")]
        self.function.default = default
        self.builder = Builder(self.function.body, self.sizes, default)
        self.grad_at_entry = torch.is_grad_enabled()
        self.wants_grad = False  # an input requires a gradient, and was read with gradients off
        self.needs_default = False  # something asked for the default dtype
        self.size_paths: dict[str, str] = {}
        self._names = {*reads.parameters, *dir(builtins)}  # of paths, guards and sizes
        self._taken = set(taken)  # names that would be taken for the user's own
        self._inputs: dict[int, tuple[torch.Tensor, SymbolicTensor]] = {}
        self._writes, self._written = 0, list[Storage]()
        self._tests: set[str] = set()
        self.operators: set[str] = set()  # methods of Tensor that operators may have called

    # --- guards and names ---

    def guard(self, test: str, reason: str) -> None:
        """Add a condition, once."""
        if test not in self._tests:
            self._tests.add(test)
            self.reads.guards.append(Guard(test, reason, here()))

    def fresh(self, name: str, *, own: bool = False) -> str:
        """The name, with underscores until nothing else has it.

        Args:
            name: the wanted one.
            own: it may be one that the user's code uses as well, for something else.
        """
        while name in self._names or (not own and name in self._taken):
            name += "_"
        self._names.add(name)
        return name

    # --- SSA ---

    def emit(self, name: str, *operands: object, **fields: FieldValue) -> Result:
        """Append the op called `name`; its first result."""
        return self.node(OPS[name], operands, fields).results[0]

    def emit_all(self, name: str, *operands: object, **fields: FieldValue) -> tuple[Result, ...]:
        """Append the op called `name`; all its results."""
        return self.node(OPS[name], operands, fields).results

    def node(self, op: Op, operands: Iterable[object], fields: Mapping[str, FieldValue]) -> Node:
        """Append a node of a row.

        Raises:
            Failed: if the operands do not fit.
            Stop: if the function has become too long.
        """
        if len(self.function.body.nodes) >= self.config.max_ops:
            raise Stop(f"more than {self.config.max_ops} operations in one function")
        self.builder.location = here()
        try:
            return self.builder.node(op, tuple(operands), fields)  # type: ignore[arg-type]
        except (
            AstjitError,
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            ZeroDivisionError,
        ) as error:
            raise Failed(error) from error

    # --- tensors and their memory ---

    def wrap(self, value: Value, operands: Sequence[SymbolicTensor] = ()) -> SymbolicTensor:
        """What user code gets for a result of an operation.

        Args:
            value: the result.
            operands: the tensors that were given: the result may be one of them, or a view.
        """
        steps: list[Step] = []
        root = value
        while True:
            owner = next((t for t in operands if t.value is root), None)
            node = root.node if isinstance(root, Result) else None
            if owner is not None or not isinstance(node, Node) or node.op.view is None:
                break
            steps.insert(0, Step(node))
            assert node.operands[0] is not None
            root = node.operands[0]
        if owner is None:
            return self.fresh_tensor(value)
        return self.view_of(owner, tuple(steps), value) if steps else owner

    def fresh_tensor(self, value: Value) -> SymbolicTensor:
        """A tensor with memory of its own."""
        if isinstance(value.type, ScalarType):
            raise Stop("an operation on Python numbers alone")
        storage = Storage(value)
        if self.trace is not None:
            self.trace.own.add(storage)
        return self.tensor_at(Place(self, storage).know(value), value.type)

    def view_of(
        self, tensor: SymbolicTensor, steps: tuple[Step, ...], value: Value
    ) -> SymbolicTensor:
        """A tensor in the memory of another."""
        kind = value.type
        assert isinstance(kind, TensorType)
        place = Place(self, tensor.place.storage, (*tensor.place.steps, *steps))
        return self.tensor_at(place.know(value), kind)

    def tensor_at(self, place: Place, kind: TensorType) -> SymbolicTensor:
        """A tensor at a place, whatever that holds."""
        sizes = [hint(d) for d in kind.dims]
        strides = [hint(s) for s in kind.element_strides()]
        return symbolic(place, kind, sizes, strides, getattr(torch, kind.dtype.torch))

    def alias(self, tensor: SymbolicTensor, text: str) -> SymbolicTensor:
        """Another tensor object for the same memory; a result of it is `path + text`."""
        made = self.tensor_at(tensor.place, tensor.kind)
        made.alias = tensor.alias + text
        return made

    def write(self, tensor: SymbolicTensor, new: Value, *, shared: bool = False) -> None:
        """Let a tensor hold a value of its sizes, or of sizes that broadcast to them.

        Args:
            tensor: the target.
            new: what it holds afterwards, converted to its dtype.
            shared: another tensor holds `new` as well, so that this one takes a copy.

        Raises:
            Stop: if several of its elements may be one in memory.
            Failed: if the sizes do not fit.
        """
        kind, made = tensor.kind, new.type
        refuse_overlap(kind)
        self.either.check(tensor.place.storage, "is written", others=True)
        assert isinstance(made, TensorType)
        if self.trace is not None and tensor.place.storage not in self.trace.own:
            self.trace.writes.append((tensor, new))  # of each iteration, after the loop
            return
        if made.dtype != kind.dtype:
            new = self.emit("to", new, dtype=kind.dtype)
        if made.dims != kind.dims:
            new = self.emit("expand", new, size=kind.dims)
        self._writes += 1
        shared = shared and made.dtype == kind.dtype
        tensor.place.write(laid_out(self, new, kind, copy=shared), self._writes)
        storage = tensor.place.storage
        if storage not in self._written:
            self._written.append(storage)

    def written(self) -> list[Storage]:
        """The inputs' memories that were written, in the order of the last writes."""
        found = [s for s in self._written if s.param is not None]
        return sorted(found, key=lambda storage: storage.last)

    def input_tensors(self) -> list[SymbolicTensor]:
        """The tensors that were read from outside."""
        return [made for _, made in self._inputs.values()]

    def inputs(self) -> Iterable[tuple[torch.Tensor, SymbolicTensor]]:
        """The caller's tensors that were read, each with what stands for it."""
        return self._inputs.values()

    def real(self, tensor: SymbolicTensor) -> torch.Tensor | None:
        """The caller's tensor that an input stands for; None for any other."""
        return next((t for t, made in self._inputs.values() if made is tensor), None)

    def root_of(self, sym: Sym) -> Dim:
        """The size that a symbol was found equal to."""
        return root(equalities(self.sizes.assumed), sym)

    def bind(self, name: str, value: object) -> None:
        """Name the SSA value after the user's variable, unless it has a name."""
        if isinstance(value, SymbolicTensor) and isinstance(held := value.value, Result):
            held.name = held.name or name

    # --- inputs ---

    def lift(self, tensor: torch.Tensor, path: str) -> SymbolicTensor:
        """The symbolic tensor for a real one reached by `path`.

        Raises:
            NeedsGrad: if it requires a gradient while gradients are recorded.
            Stop: if it is not a plain tensor.
        """
        if isinstance(tensor, SymbolicTensor):
            return tensor
        if (known := self._inputs.get(id(tensor))) is not None:
            first = known[1].origin
            if first is not None and first.path != path:
                self.guard(f"{path} is {first.path}", f"{path} and {first.path} are one tensor")
            return known[1]
        with torch_api.plain_calls():
            if why := torch_api.why_not_plain(tensor):
                raise Stop(f"{path} is {why}")
            dtype = dtype_of(tensor)
            if dtype is None:
                raise Stop(f"{path} has dtype {tensor.dtype}")
            if tensor.device.type not in ("cpu", "cuda"):
                raise Stop(f"{path} is on device {tensor.device}")
            if tensor.requires_grad and torch.is_grad_enabled():
                raise NeedsGrad(path)
            self.wants_grad |= tensor.requires_grad
            name = self.fresh_input(path)
            kind = input_type(tensor, dtype, name, self.fresh)
            if self.config.dynamic is False:
                kind = pinned(kind)
            param = self.builder.param(name, kind, path)
            made = symbolic(
                Place(self, Storage(param, param)),
                kind,
                tensor.shape,
                tensor.stride(),
                tensor.dtype,
                is_parameter=isinstance(tensor, torch.nn.Parameter),
                wants_grad=tensor.requires_grad,
            )
        self._name_sizes(kind, path)
        self._inputs[id(tensor)] = tensor, made
        return made

    def _name_sizes(self, kind: TensorType, path: str) -> None:
        for axis, dim in enumerate(kind.dims):
            if isinstance(dim, Sym):
                self.size_paths[dim.name] = f"{path}.shape[{axis}]"
        for axis, stride in enumerate(kind.strides or ()):
            if isinstance(stride, Sym):
                self.size_paths[stride.name] = f"{path}.stride({axis})"

    def scalar(self, number: Plain, path: str) -> object:
        """The carrier of a Python number reached by `path`."""
        kind = PY_INT if isinstance(number, int) else PY_FLOAT
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            for test in (f"type({path}) is int", f"{path} == {number}"):
                self.guard(test, f"{path} is an int beyond 64 bits")
            return number
        self.guard(f"type({path}) is {type(number).__name__}", f"{path} is a Python {kind}")
        param = Param(kind, self.fresh_input(path), path, here())
        return carrier(self, Number(number, path, value=param))

    def take(self, param: Param) -> None:
        """Make a number an input of the function, unless it is one."""
        if param not in self.function.params:
            self.function.params.append(param)

    def fresh_input(self, path: str) -> str:
        """A name for the input at a path: its last readable part."""
        name = readable(path)
        return name if name == path else self.fresh(name)

    # --- numbers ---

    def is_argument(self, path: str) -> bool:
        """Whether a path is a parameter of the function."""
        return path in self.reads.parameters

    def size_of(self, number: Number) -> Dim | None:
        """A number as a size, None where it is none: see positions.py."""
        return size_of(self, number, symbolic=self.config.dynamic is not False)

    def dim_text(self, dim: Dim) -> str:
        """Python text of a size, over paths."""
        shown = text(dim, lambda sym: self.size_paths[sym.name])
        return shown if isinstance(dim, int | Sym) else f"({shown})"

    def host_row(self, sign: str) -> str:
        """The row that does this arithmetic on Python numbers, "" if none does."""
        name = _HOST_ROWS.get(sign, "")
        return name if name in OPS and "py" in OPS[name].spell else ""

    def pin(self, number: Number, why: str) -> Plain:
        """The value of a number, as a guard.

        Raises:
            Stop: for a size with dynamic=True.
        """
        same_throughout(self.sizes, number)
        if number.dim is not None:
            if isinstance(number.dim, int):
                return number.hint
            if self.config.dynamic is True:
                raise Stop(f"dynamic=True, but the size {number.text} is needed as a number: {why}")
            if self.sizes.holds("==", number.dim, int(number.hint)):
                self.sizes.pins.setdefault(number.dim, f"{why} ({here() or 'at the call'})")
            return number.hint
        if number.value is None and not number.op:
            return number.hint
        test = f"{number.text} == {number.hint!r}"
        if number.hint != number.hint:
            test = f"{number.text} != {number.text}"
        elif number.hint == 0.0 and isinstance(number.hint, float):
            test = f"repr({number.text}) == {repr(number.hint)!r}"  # 0.0 == -0.0
        elif number.hint in (float("inf"), float("-inf")):
            test = f"{number.text} == float('{number.hint}')"
        self.guard(test, f"{number.text} is {number.hint!r}: {why}")
        return number.hint

    def compare(self, sign: str, left: Number, right: Number) -> bool:
        """The answer of `left SIGN right` in this call, as a guard."""
        if left.dim is not None and right.dim is not None:
            return self.sizes.holds(sign, left.dim, right.dim)
        same_throughout(self.sizes, left, right)
        answer = bool(COMPARE[sign](left.hint, right.hint))
        asked = f"({left.text} {sign} {right.text})"
        self.guard(asked if answer else f"not {asked}", f"a branch on {asked}")
        return answer

    def number_value(self, number: Number) -> Value:
        """The SSA value of a number, appended where it is first needed."""
        if number.value is not None:
            if isinstance(number.value, Param):
                self.take(number.value)
            return number.value
        same_throughout(self.sizes, *([number] if self.trace is None else []))
        if number.dim is not None and not isinstance(number.dim, int):
            number.value = self.emit("size", value=number.dim)
        elif number.op:
            parts = [self.number_value(p) if isinstance(p, Number) else p for p in number.operands]
            number.value = self.emit(number.op, *parts)
        else:
            return Literal(number.hint)
        return number.value

    # --- the end ---

    def finish(self) -> Function:
        """The function, with sizes that were found equal written as one."""
        self.reads.pins = {self.dim_text(dim): why for dim, why in self.sizes.pins.items()}
        self.function.assumed = list(self.sizes.assumed)
        equal: dict[str, Dim] = {}
        # what `n == m // 2` says of n is known once m is written as the 32 that it equals
        while found := equalities(self.function.assumed):
            self.function.substitute({name: root(found, Sym(name)) for name in found})
            equal |= found
        for param in self.function.params:
            if param.type == PY_INT and param.name in equal:
                same = root(equal, Sym(param.name))
                self.function.assumed.append(Predicate("==", Sym(param.name), same))
        return self.function

    def close(self) -> None:
        """Let go of the caller's tensors."""
        self._inputs.clear()
