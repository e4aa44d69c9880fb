"""Runs a function through PyTorch, one op at a time: the oracle, and the way without a compiler.

interpret(fn, [x, w, 1e-6])  =>  [y], each op being the call that eager would make
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType

import torch

from astjit.errors import InternalError, UsageError
from astjit.ir.function import Function, Node
from astjit.ir.value import Literal, Param, Value
from astjit.ops.host import host_text
from astjit.ops.spec import FieldKind, Kind
from astjit.ops.table import OPS
from astjit.runtime.lanes import Lanes
from astjit.types.shape import Dim, Sym, evaluate, symbols
from astjit.types.tensor import PY_INT, ScalarType, TensorType, Type

Datum = torch.Tensor | float
_MAP, _FOR, _IF = OPS["map"], OPS["for"], OPS["if"]


def interpret(
    function: Function, arguments: Sequence[Datum], *, check: bool = False
) -> list[Datum]:
    """The results of a function, computed without gradients.

    Args:
        function: verified SSA without control flow but `map`, `for` and `if`.
        arguments: one for each parameter: a tensor, or a Python number.
        check: also compare dtype, sizes and layout of every value with its type.

    Raises:
        UsageError: if the arguments do not fit the parameters' types.
        InternalError: for an op of kind CONTROL or BODY; with `check`, where torch's result is not
            of the type that the row inferred.
    """
    if len(arguments) != len(function.params):
        raise UsageError(
            f"{function.name} takes {len(function.params)} arguments, not {len(arguments)}"
        )
    sizes = bind_sizes(function.params, arguments)
    known: dict[Value, Datum] = dict(zip(function.params, arguments, strict=True))
    with torch.no_grad():
        for node in function.body.nodes:
            values = run_node(node, known, sizes)
            if check:
                _check(node, values, sizes)
            known.update(zip(node.results, values, strict=True))
    return [v.value if isinstance(v, Literal) else known[v] for v in function.results]


def bind_sizes(params: Sequence[Param], arguments: Sequence[Datum]) -> dict[str, int]:
    """The value of every size symbol, read from the arguments' sizes and strides.

    Raises:
        UsageError: if an argument does not have its parameter's type.
    """
    sizes: dict[str, int] = {}
    pending: list[tuple[Param, Dim, int]] = []
    for param, argument in zip(params, arguments, strict=True):
        if not isinstance(param.type, TensorType):
            if isinstance(argument, torch.Tensor):
                raise UsageError(f"argument {param.name!r} is a tensor, not a Python {param.type}")
            if param.type == PY_INT:
                sizes.setdefault(param.name, int(argument))
            continue
        if not isinstance(argument, torch.Tensor) or argument.dim() != param.type.rank:
            raise UsageError(f"argument {param.name!r} is not {param.type}")
        pairs = list(zip(param.type.dims, argument.shape, strict=True))
        if param.type.strides is not None:
            strides = zip(param.type.dims, param.type.strides, argument.stride(), strict=True)
            pairs += [(dim, stride) for size, dim, stride in strides if size != 1]
        for dim, actual in pairs:
            if isinstance(dim, Sym):
                sizes.setdefault(dim.name, int(actual))
            pending.append((param, dim, int(actual)))
    for param, dim, actual in pending:
        if (wanted := evaluate(dim, sizes)) != actual:
            raise UsageError(f"argument {param.name!r}: {dim} is {wanted}, and here {actual}")
    return sizes


def run_node(
    node: Node, known: Mapping[Value, Datum], sizes: Mapping[str, int]
) -> tuple[Datum, ...]:
    """The results of one node.

    Args:
        node: of no kind CONTROL or BODY but `map`, `for` and `if`.
        known: its operands at least, and what its regions read.
        sizes: the value of every size symbol.

    Raises:
        InternalError: for another kind of node.
    """
    if node.op is _MAP:
        kind = node.results[0].type
        assert isinstance(kind, TensorType)
        return Lanes(node, run_node, sizes, torch.device(kind.device)).run(known)
    if node.op is _FOR:
        return _loop(node, known, sizes)
    if node.op is _IF:
        return _branch(node, known, sizes)
    if node.op.kind in (Kind.CONTROL, Kind.BODY):
        raise InternalError(
            f"the interpreter does not run {node.op} (of kind {node.op.kind.value})"
        )
    operands = [
        None if v is None else v.value if isinstance(v, Literal) else known[v]
        for v in node.operands
    ]
    value: object
    scalar = isinstance(node.results[0].type, ScalarType) and node.op.kind is not Kind.SIZE
    if scalar and "py" not in node.op.spell and node.op.evaluate is not None:
        value = node.op.evaluate(*operands, **node.fields)
    else:
        names = [None if v is None else f"_{i}" for i, v in enumerate(operands)]
        text = host_text(
            node.op,
            names,
            node.fields,
            scalar=scalar,
            size=lambda dim: str(evaluate(dim, sizes)),
        )
        value = eval(_compiled(text), _namespace(node, operands))
    return tuple(value) if isinstance(value, tuple | list) else (value,)  # type: ignore[return-value]


def _loop(node: Node, known: Mapping[Value, Datum], sizes: Mapping[str, int]) -> tuple[Datum, ...]:
    """The results of a counted loop: carried values, and others stacked along a new first axis."""
    (body,) = node.regions
    scope, here = dict(known), dict(sizes)
    index, *params = body.params
    carried = [v.value if isinstance(v, Literal) else known[v] for v in node.values]
    stacked: list[list[Datum]] = [[] for _ in node.results[len(carried) :]]
    for count in range(evaluate(node.fields["trip"], sizes)):  # type: ignore[arg-type]
        here[str(node.fields["index"])] = scope[index] = count
        scope.update(zip(params, carried, strict=True))
        for inner in body.nodes:
            scope.update(zip(inner.results, run_node(inner, scope, here), strict=True))
        made = [v.value if isinstance(v, Literal) else scope[v] for v in body.results]
        carried = made[: len(carried)]
        for values, value in zip(stacked, made[len(carried) :], strict=True):
            values.append(value)
    for at in node.fields["backward"]:  # type: ignore[attr-defined]  # an AXES field
        stacked[at].reverse()
    joined = (torch.stack(values) for values in stacked)  # type: ignore[arg-type]  # tensors
    return *_own(carried, known), *joined


def _branch(
    node: Node, known: Mapping[Value, Datum], sizes: Mapping[str, int]
) -> tuple[Datum, ...]:
    """The results of an `if`: of the arm that is taken, which alone is run."""
    (condition,) = node.values
    holds = condition.value if isinstance(condition, Literal) else known[condition]
    taken, scope = node.regions[0 if holds else 1], dict(known)
    for inner in taken.nodes:
        scope.update(zip(inner.results, run_node(inner, scope, sizes), strict=True))
    made = [v.value if isinstance(v, Literal) else scope[v] for v in taken.results]
    return tuple(_own(made, known))


def _own(carried: Sequence[Datum], known: Mapping[Value, Datum]) -> Iterator[Datum]:
    """Each in memory of its own, as a kernel leaves it: a loop may hand on what it was given."""
    taken = {id(value) for value in known.values()}
    for value in carried:
        yield value.clone() if isinstance(value, torch.Tensor) and id(value) in taken else value
        taken.add(id(value))


def sizes_in(node: Node) -> list[str]:
    """The size symbols that a node with regions and its results depend on."""
    dims: list[Dim] = []
    for result in node.results:
        if isinstance(result.type, TensorType):
            dims += (*result.type.dims, *result.type.element_strides())
    if node.op is _FOR:
        dims.append(node.fields["trip"])  # type: ignore[arg-type]  # a SIZE field
    for inner in (n for region in node.regions for n in region.walk()):
        dims += [
            inner.fields[f.name]  # type: ignore[misc]  # of its kind, as the verifier checked
            for f in inner.op.fields
            if f.kind is FieldKind.SIZE
        ]
    names = dict.fromkeys(symbol.name for dim in dims for symbol in symbols(dim))
    return [name for name in names if name != node.fields.get("index")]


def run_regions(
    node: Node, values: Sequence[Value], sizes: Sequence[str], *given: Datum
) -> tuple[Datum, ...]:
    """The results of a node with regions.

    Args:
        node: the node.
        values: what it and its regions read.
        sizes: the size symbols that they depend on.
        given: the values, and then the sizes.
    """
    known = dict(zip(values, given, strict=False))
    numbers = (int(n) for n in given[len(values) :])
    with torch.no_grad():
        return run_node(node, known, dict(zip(sizes, numbers, strict=True)))


@lru_cache(4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<op>", "eval")


def _namespace(node: Node, operands: Sequence[Datum | None]) -> dict[str, object]:
    names: dict[str, object] = {f"_{i}": v for i, v in enumerate(operands)}
    names["torch"] = torch
    if any(declared.kind is FieldKind.TYPES for declared in node.op.fields):
        root = str(node.fields["target"]).split(".")[0]
        if root not in ("torch", "Tensor"):
            names[root] = importlib.import_module(root)
    return names


def _check(node: Node, values: tuple[Datum, ...], sizes: Mapping[str, int]) -> None:
    if len(values) != len(node.results):
        raise InternalError(f"{node.op} gave {len(values)} results, not {len(node.results)}")
    for result, value in zip(node.results, values, strict=True):
        found = _found(value)
        wanted = _wanted(result.type, sizes)
        if found != wanted:
            where = f" at {node.location}" if node.location else ""
            raise InternalError(f"{node.op}{where}: torch gives {found}, the row infers {wanted}")


def _found(value: Datum) -> str:
    if isinstance(value, torch.Tensor):
        return _shown(str(value.dtype), tuple(value.shape), tuple(value.stride()))
    return type(value).__name__


def _wanted(kind: Type, sizes: Mapping[str, int]) -> str:
    if isinstance(kind, ScalarType):
        return str(kind)
    dims = tuple(evaluate(d, sizes) for d in kind.dims)
    strides = tuple(evaluate(s, sizes) for s in kind.element_strides())
    return _shown(f"torch.{kind.dtype.torch}", dims, strides)


def _shown(dtype: str, dims: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """Strides of axes of size 1, and of tensors without elements, say nothing."""
    layout = ["-" if d == 1 or 0 in dims else str(s) for d, s in zip(dims, strides, strict=True)]
    return f"{dtype}{list(dims)} strides({', '.join(layout)})"
