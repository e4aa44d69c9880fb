"""What lowering knows of a value: where its axes stand, and whether it has been rounded."""

from collections.abc import Mapping
from dataclasses import dataclass

from astjit.fusion.axes import Axis
from astjit.ir.value import Value
from astjit.types.dtype import DType


@dataclass(frozen=True, slots=True)
class Place:
    """Where an axis stands.

    Attributes:
        index: of type i64.
        where: whether there is anything to read, None: always.
    """

    index: Value
    where: Value | None = None


Elsewhere = Mapping[Axis, Place]


@dataclass(slots=True)
class Local:
    """A value of the group in the body.

    Attributes:
        raw: as computed.
        half: the 16-bit type it is rounded to before it is used, if any.
        rounded: the rounded value, once something used it.
    """

    raw: Value
    half: DType | None = None
    rounded: Value | None = None

    def __post_init__(self) -> None:
        if self.half is None:
            self.rounded = self.raw

    @property
    def stored(self) -> Value:
        """What a store writes: the rounded value where there is one, else the store rounds."""
        return self.rounded if self.rounded is not None else self.raw
