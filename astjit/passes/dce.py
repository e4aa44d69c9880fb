"""Operations that nothing needs are removed.

    %1 = exp %x : f32[8]
    %2 = neg %x : f32[8]        =>        %2 = neg %x : f32[8]
    return %2                             return %2

Needed are the function's results, what has an effect or may raise, and their operands. A node with
regions needs everything that its regions yield.
"""

from astjit.ir.function import Block, Function
from astjit.ir.value import Value
from astjit.ir.walk import has_effect, may_raise


def dce(function: Function) -> bool:
    """Remove unused nodes; whether anything changed."""
    return _sweep(function.body, set())


def _sweep(block: Block, needed: set[Value]) -> bool:
    """Remove from the end; `needed` gains what the block uses."""
    changed = False
    needed.update(block.results)
    kept = []
    for node in reversed(block.nodes):
        kept_anyway = has_effect(node) or may_raise(node)
        if not kept_anyway and not any(result in needed for result in node.results):
            changed = True
            continue
        kept.append(node)
        needed.update(node.values)
        for region in node.regions:
            changed |= _sweep(region, needed)
    block.nodes = kept[::-1]
    return changed
