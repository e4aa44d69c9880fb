"""Operations that give back what they were given are left out.

    to x of x's own dtype, an identity view of x, where(c, x, x)  =>  x
    neg(neg(x))                                                   =>  x
    relu(relu(x)), the same twice of any idempotent row           =>  relu(x)

Only rewrites that keep every bit: nothing here knows that x + 0, x * 1, x - x or x * 0 is something
simpler, as -0.0, nan and inf say it is not.
"""

from astjit.ir.function import Function, Node
from astjit.ir.value import Result, Value
from astjit.ops.rules import CAST
from astjit.ops.spec import Call, Trait
from astjit.ops.table import OPS
from astjit.passes.rewrite import rewrite
from astjit.types.shape import Sizes, Undecided

_WHERE = OPS["where"]


def simplify(function: Function) -> bool:
    """Replace values by simpler ones of the same bits; whether anything changed."""
    sizes = Sizes(function.assumed)

    def rule(node: Node) -> Value | None:
        for simpler in (_same_arms(node), _repeated(node), _cast_to_own(node)):
            if simpler is not None and simpler.type == node.result.type:
                return simpler
        return _identity_view(node, sizes)

    return rewrite(function, rule)


def _same_arms(node: Node) -> Value | None:
    """where(c, x, x) is x."""
    if node.op is not _WHERE:
        return None
    _, then, other = node.operands
    return then if then == other else None


def _repeated(node: Node) -> Value | None:
    """f(f(x)) is x for involutions, f(x) for idempotent rows."""
    if len(node.operands) != 1 or not isinstance(inner := node.operands[0], Result):
        return None
    before = inner.node
    if not isinstance(before, Node) or before.op is not node.op or before.fields != node.fields:
        return None
    if inner.type != node.result.type:
        return None
    if node.op.traits & Trait.INVOLUTION:
        return before.operands[0]
    return inner if node.op.traits & Trait.IDEMPOTENT else None


def _cast_to_own(node: Node) -> Value | None:
    """to(x) is x where the type stays."""
    return node.operands[0] if node.op.rule is CAST else None


def _identity_view(node: Node, sizes: Sizes) -> Value | None:
    """A view is told by its offset and its type, so with x's type and no offset it is x."""
    view = node.op.view
    if view is None or not node.operands or node.operands[0] is None:
        return None
    source = node.operands[0]
    if source.type != node.result.type:
        return None
    types = tuple(None if v is None else v.type for v in node.operands)
    try:
        offset = view.offset(Call(types, node.fields, sizes))
    except Undecided:
        return None
    return source if offset == 0 else None
