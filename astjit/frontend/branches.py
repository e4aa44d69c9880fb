"""Which `if`s on tensors a capture takes whole: both arms captured, one of them run.

A capture first meets `if t:` as any other condition. If `t` is a tensor of one element the capture
starts anew with both arms of that `if` captured; what speaks against it, in the arms or later, has
it start once more with the `if` as Python runs it, where the function is cut.
"""

from collections import Counter
from dataclasses import dataclass, field

from astjit.frontend.memory import Storage
from astjit.frontend.stops import Stop, place, user_frame
from astjit.types.shape import Sizes
from astjit.types.tensor import TensorType

MOST = 32  # times that the same `if` is captured in one program
MOST_TRIED = 8  # ifs of one function: each has the capture start anew
Site = tuple[str, int, int | None]  # the file, line and column of a condition


def is_single(kind: TensorType, sizes: Sizes) -> bool:
    """Whether a tensor is known to have one element."""
    return all(dim == 1 or (not isinstance(dim, int) and sizes.equal(dim, 1)) for dim in kind.dims)


class Branch(Stop):
    """An `if` on a tensor of one element, not yet tried.

    Args:
        site: where its condition is.
    """

    def __init__(self, site: Site) -> None:
        instead = "torch.where(condition, a, b)"
        super().__init__("a condition on the values of a tensor", syntax=True, instead=instead)
        self.site = site


@dataclass(slots=True)
class Branches:
    """What is known of the `if`s of one function and of what it calls.

    Attributes:
        taken: whether both arms of an `if` on a tensor are captured, where that was asked.
        open: those whose arms are being captured, the innermost last.
        met: how often each was captured.
        off: there are so many that all are left to Python.
    """

    taken: dict[Site, bool] = field(default_factory=dict)
    open: list[Site] = field(default_factory=list)
    met: Counter[Site] = field(default_factory=Counter)
    off: bool = False

    def begin(self, site: Site) -> None:
        """Note that both arms of an `if` are captured now.

        Raises:
            Unbranched: if that was so often: a loop around it is better left to Python.
        """
        self.open.append(site)
        self.met[site] += 1
        if self.met[site] > MOST:
            raise Unbranched("an if in a loop of many iterations")

    def asked(self) -> Site | None:
        """Where the innermost rewritten frame is, if nothing is known of an `if` there."""
        frame = user_frame()
        if frame is None or self.off:
            return None
        where = place(frame)
        site = where.file, where.line, where.column
        return None if site in self.taken else site

    def inside(self, file: str) -> frozenset[tuple[int, int | None]]:
        """The lines and columns in a file at which both arms are captured."""
        return frozenset(
            (line, column)
            for (path, line, column), taken in self.taken.items()
            if taken and path == file
        )

    def settle(self, error: BaseException, *, loops: bool) -> bool:
        """Whether the capture that an exception ended may start anew, with what was learnt of it.

        Args:
            error: what ended the capture.
            loops: a loop may be to blame as well, and is not ruled out yet.
        """
        open_, self.open = self.open, []
        self.met.clear()
        if isinstance(error, Branch) and error.site not in self.taken:
            self.taken[error.site] = True
            if len(self.taken) > MOST_TRIED:
                self.taken, self.off = dict.fromkeys(self.taken, False), True
        elif open_:
            self.taken[open_[-1]] = False
        elif isinstance(site := getattr(error, "site", None), tuple) and self.taken.get(site):
            self.taken[site] = False
        elif isinstance(error, Stop) or loops or not any(self.taken.values()):
            return False
        else:
            self.taken.update(dict.fromkeys(self.taken, False))
        return True


class Unbranched(Stop):
    """Both arms of an `if` cannot be captured.

    Args:
        reason: why.
        site: which, if none that is being captured.
    """

    def __init__(self, reason: str, site: Site | None = None) -> None:
        super().__init__(reason)
        self.site = site


class Either:
    """Memory of which it depends on an `if` whether it is memory that was there before.

    if t: x = x * 2        x: memory of its own, or what it was
    """

    def __init__(self) -> None:
        self._known: dict[Storage, tuple[Site, tuple[Storage, ...]]] = {}

    def note(self, storage: Storage, site: Site, homes: tuple[Storage, ...]) -> None:
        """What an `if` made may as well be any of `homes`."""
        self._known[storage] = site, homes

    def carry(self, storage: Storage, last: Storage, starts: tuple[Storage, ...]) -> None:
        """What a loop leaves, where it may have left what it started with, as `last` may."""
        if last in self._known:
            site, homes = self._known[last]
            self.note(storage, site, tuple(dict.fromkeys((*homes, *starts))))

    def homes(self, storage: Storage) -> tuple[Storage, ...]:
        """What memory may as well be."""
        return self._known[storage][1] if storage in self._known else ()

    def check(self, storage: Storage, what: str, *, others: bool = False) -> None:
        """Check that memory is one memory, whichever arm of an `if` was taken.

        Args:
            storage: any.
            what: why that matters.
            others: it must not be what other memory may be, either.

        Raises:
            Unbranched: if not.
        """
        for made, (site, homes) in self._known.items():
            if storage is made or (others and storage in homes):
                raise Unbranched(f"what an if may have bound to one of two tensors {what}", site)
