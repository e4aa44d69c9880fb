"""Kernel kinds and their templates (decision D25): one row a kind."""

from dataclasses import dataclass


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
    )
}
