"""Kernel kinds and their templates (decision D25): one row a kind."""

from dataclasses import dataclass

from astjit.fusion.schedule import Schedule


@dataclass(frozen=True, slots=True)
class KernelKind:
    """A kind of kernel.

    Attributes:
        name: as in Kernel.kind.
        cpu: its C++ template.
        cuda: its CUDA template.
        doc: what it computes.
    """

    name: str
    cpu: str
    cuda: str
    doc: str

    def template(self, schedule: Schedule) -> str:
        """Its template for a schedule: a row of its own, in one block, where stages are several."""
        alone = self.name == "full" and schedule.target == "cuda" and schedule.variant != "plain"
        return KINDS["row"].cuda if alone else getattr(self, schedule.target)


KINDS = {
    kind.name: kind
    for kind in (
        KernelKind(
            "pointwise",
            "cpu/pointwise.cpp.j2",
            "cuda/pointwise.cu.j2",
            "every output element from input elements at the same index",
        ),
        KernelKind(
            "row",
            "cpu/row.cpp.j2",
            "cuda/row.cu.j2",
            "reductions along rows in stages, with elementwise work before, between and after",
        ),
        KernelKind(
            "full",
            "cpu/full.cpp.j2",
            "cuda/full.cu.j2",
            "reductions of all elements, with elementwise work before, and what is made of them",
        ),
        KernelKind(
            "column",
            "cpu/column.cpp.j2",
            "cuda/column.cu.j2",
            "reductions over rows in stages, lanes running along the columns beside each other",
        ),
    )
}
