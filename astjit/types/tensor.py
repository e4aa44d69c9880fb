"""Types of SSA values: tensors with a layout, and Python numbers.

f32[rows, cols]              dense, axes in order, on the CPU
f32[rows, cols] order(1,0)   dense, axis 0 innermost
f32[rows, cols] strides(s0,1)
f32[rows, cols] @cuda:0
float                        a Python float: weakly typed (decision D2)
"""

from dataclasses import dataclass, field

from astjit.types.dtype import Category, DType
from astjit.types.shape import Dim, mul, product, text


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor's dtype, sizes, layout and device.

    Attributes:
        dtype: element type.
        dims: sizes, outermost first; () is a 0-d tensor.
        order: axes from outermost to innermost of a dense layout; None when strided. Axes of size
            1, which have no order, stand where they are, so that equal layouts are equal.
        strides: element strides of a layout that is not dense; None when dense.
        device: "cpu", "cuda:0", ...
    """

    dtype: DType
    dims: tuple[Dim, ...]
    order: tuple[int, ...] | None = None
    strides: tuple[Dim, ...] | None = None
    device: str = "cpu"
    _elements: tuple[Dim, ...] | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.order is None and self.strides is None) or 0 in self.dims:
            object.__setattr__(self, "strides", None)  # without elements, whatever the strides
            object.__setattr__(self, "order", tuple(range(len(self.dims))))
        elif self.order is not None and 1 in self.dims:
            object.__setattr__(self, "order", _plain_order(self.order, self.dims))

    @property
    def rank(self) -> int:
        """Number of dims."""
        return len(self.dims)

    @property
    def numel(self) -> Dim:
        """Number of elements."""
        return product(self.dims)

    @property
    def is_contiguous(self) -> bool:
        """Dense with the axes in order, axes of size 1 left out."""
        if self.order is None:
            return False
        real = [axis for axis in self.order if self.dims[axis] != 1]
        return real == sorted(real)

    def element_strides(self) -> tuple[Dim, ...]:
        """Strides in elements."""
        if self.strides is not None:
            return self.strides
        if self._elements is not None:
            return self._elements
        assert self.order is not None
        result: list[Dim] = [1] * self.rank
        running: Dim = 1
        for axis in reversed(self.order):
            result[axis] = running
            running = mul(running, self.dims[axis])
        object.__setattr__(self, "_elements", tuple(result))
        return tuple(result)

    def with_(
        self, *, dtype: DType | None = None, dims: tuple[Dim, ...] | None = None
    ) -> "TensorType":
        """A copy with another dtype, or dense in axis order with other sizes."""
        if dims is not None:
            return TensorType(dtype or self.dtype, dims, device=self.device)
        return TensorType(dtype or self.dtype, self.dims, self.order, self.strides, self.device)

    def __str__(self) -> str:
        shown = f"{self.dtype}[{', '.join(text(d) for d in self.dims)}]"
        if self.strides is not None:
            shown += f" strides({','.join(text(s) for s in self.strides)})"
        elif self.order != tuple(range(self.rank)):
            shown += f" order({','.join(map(str, self.order or ()))})"
        return shown if self.device == "cpu" else f"{shown} @{self.device}"


def _plain_order(order: tuple[int, ...], dims: tuple[Dim, ...]) -> tuple[int, ...]:
    """The order with the axes of size 1 where they are."""
    plain = [axis for axis in order if dims[axis] != 1]
    for axis, dim in enumerate(dims):
        if dim == 1:
            plain.insert(axis, axis)
    return tuple(plain)


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A Python number known at run time only; its category decides promotion."""

    category: Category

    def __str__(self) -> str:
        return {Category.BOOL: "bool", Category.INTEGER: "int", Category.FLOAT: "float"}[
            self.category
        ]


PY_BOOL, PY_INT, PY_FLOAT = (ScalarType(c) for c in Category)
Type = TensorType | ScalarType
