"""What a column kernel knows of a column: values that vary over columns and not over rows.

standardise over dim 0: mean and rstd are values of a column; mean is wanted by the next sweep,
the variance by nothing but rstd, which is computed beside it
"""

from astjit.fusion.kernel import Kernel, facts, is_load, is_position, is_reduce
from astjit.fusion.stages import cut
from astjit.ir.function import Node
from astjit.ir.value import Result, Value


class ColumnValues:
    """The values of a column of a kernel.

    Attributes:
        kept: those that are computed between sweeps and wanted after the next one has begun.
    """

    def __init__(self, kernel: Kernel) -> None:
        rows, inner = set(kernel.reduced), kernel.inner
        known = facts(kernel)
        self._values = {
            value
            for value, fact in known.items()
            if inner in fact.axes and not fact.axes & rows and isinstance(value, Result)
        }
        stage: dict[Node, int] = {}
        for number, here in enumerate(cut(kernel, {}).passes):
            stage.update(dict.fromkeys((*here.scalars, *here.scalar_stores), number))
        self.kept: set[Value] = set()
        for node in kernel.body.nodes:
            place = stage.get(node)  # None: at elements
            for value in node.values:
                made = value.node if isinstance(value, Result) else None
                if made in stage and self.computes(value) and place != stage[made]:
                    self.kept.add(value)

    def holds(self, value: Value) -> bool:
        """Whether a value is one of a column."""
        return value in self._values

    def computes(self, value: Value) -> bool:
        """Whether a value of a column follows from others: no load, reduction or position."""
        node = value.node if isinstance(value, Result) else None
        if value not in self._values or not isinstance(node, Node):
            return False
        return not (is_load(node) or is_reduce(node) or is_position(node))
