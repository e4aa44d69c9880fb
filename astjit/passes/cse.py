"""Equal operations are done once.

    %1 = rsqrt %x : f32[8]                  %1 = rsqrt %x : f32[8]
    %2 = rsqrt %x : f32[8]        =>        %2 = rsqrt %x : f32[8]     left for dce
    %3 = mul %1, %2 : f32[8]                %3 = mul %1, %1 : f32[8]

Equal means one row, the same operands (in any order where the row is commutative), fields and
result types. 1, 1.0 and True are three numbers, and so are 0.0 and -0.0. Inside a region the values
of the blocks around it count; the other way they do not (decision D21).
"""

from collections import ChainMap

from astjit.ir.function import Block, Function, Node
from astjit.ir.notation import field_text
from astjit.ir.value import Value
from astjit.ir.walk import has_effect
from astjit.ops.spec import Trait
from astjit.passes.rewrite import Replacements
from astjit.types.tensor import TensorType

_Seen = ChainMap[object, Node]


def cse(function: Function) -> bool:
    """Use the first of equal values for the later ones; whether anything changed."""
    changes = Replacements(function)
    _merge(function.body, ChainMap(), {}, changes)
    return changes.changed


def _merge(
    block: Block, seen: _Seen, numbers: dict[Value | None, int], changes: Replacements
) -> None:
    for node in block.nodes:
        changes.apply(node)
        for region in node.regions:
            _merge(region, seen.new_child(), numbers, changes)
        if node.regions or has_effect(node):
            continue
        first = seen.setdefault(_key(node, numbers), node)
        if first is not node:
            changes.replace(node, first.results)
    changes.finish(block)


def _key(node: Node, numbers: dict[Value | None, int]) -> object:
    """What equal nodes share; `numbers` gives every value a number, equal literals the same."""
    operands = [numbers.setdefault(v, len(numbers)) for v in node.operands]
    if node.op.traits & Trait.COMMUTATIVE and not (node.op.wide_numbers and _mixed(node)):
        operands.sort()
    fields = tuple(field_text(f.kind, node.fields[f.name]) for f in node.op.fields)
    types = tuple(r.type for r in node.results)
    return (node.op.name, tuple(operands), fields, types)


def _mixed(node: Node) -> bool:
    """Whether tensors of several dtypes meet: eager rounds a wider first operand."""
    return len({v.type.dtype for v in node.values if isinstance(v.type, TensorType)}) > 1
