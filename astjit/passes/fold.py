"""Operations on Python numbers known now are done now, as Python does them.

    %n = size {value=4} : int
    %1 = div 1.0, %n : float        =>        %2 = mul %x, 0.25 : f32[4]
    %2 = mul %x, %1 : f32[4]

Only rows that are exact (decision D8). What raises, or would have another type than the row infers,
stays and does so when it runs.
"""

from astjit.ir.function import Function, Node
from astjit.ir.value import Literal, Value
from astjit.ops.spec import FieldKind, Kind, Trait
from astjit.passes.rewrite import rewrite


def fold(function: Function) -> bool:
    """Replace operations on literals by literals; whether anything changed."""
    return rewrite(function, _literal)


def _literal(node: Node) -> Value | None:
    number = _size(node) if node.op.kind is Kind.SIZE else _number(node)
    if not isinstance(number, bool | int | float):
        return None
    literal = Literal(number)
    return literal if literal.type == node.result.type else None


def _size(node: Node) -> object:
    (value,) = (node.fields[f.name] for f in node.op.fields if f.kind is FieldKind.SIZE)
    return value


def _number(node: Node) -> object:
    evaluate = node.op.evaluate
    if evaluate is None or not node.op.traits & Trait.EXACT or None in node.operands:
        return None
    numbers = [v.value for v in node.operands if isinstance(v, Literal)]
    if not numbers or len(numbers) != len(node.operands):
        return None
    try:
        return evaluate(*numbers, **node.fields)
    except (ArithmeticError, ValueError, TypeError):
        return None
