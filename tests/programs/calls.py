"""The calls of a random program: sizes, layouts, dtypes, numbers, aliases and globals change."""

import random
from dataclasses import dataclass

from tests.programs import objects
from tests.programs.expressions import DTYPES
from tests.programs.program import Call

_SHAPES = (
    ("A", "B"),
    ("A", "B"),
    ("B",),
    ("A", 1),
    (),
    ("A", "B", "C"),
    ("A", "A"),
    (1, "B"),
    ("C",),
)
_CHANGES = "again sizes numbers alias overlap layout dtype globals one empty earlier mode options"
_STRICT = ("again", "sizes", "numbers", "globals")  # a statement should fit these as well
_NUMBERS = ("2", "3", "0", "1", "-1", "2.0", "0.5", "1.0", "-0.0", "float('nan')", "True", "False")


@dataclass(frozen=True, slots=True)
class Made:
    """A call, and whether what fits the first call should fit it."""

    call: Call
    like_first: bool


class Caller:
    """Draws a signature and calls that fit it.

    Args:
        choice: of everything that is drawn.
    """

    def __init__(self, choice: random.Random) -> None:
        self.random, self.seed = choice, 0
        self.tensors = ["x", "y", "z"][: choice.choice((1, 2, 2, 3))]
        self.dtype = choice.choice(("float32",) * 6 + DTYPES)
        self.special = choice.random() < 0.3
        self.shapes = {name: choice.choice(_SHAPES) for name in self.tensors}
        if choice.random() < 0.5:
            self.shapes = dict.fromkeys(self.tensors, self.shapes["x"])
        self.dtypes = {
            name: self.dtype if choice.random() < 0.8 else choice.choice(DTYPES)
            for name in self.tensors
        }
        self.layouts = {name: choice.random() < 0.25 for name in self.tensors}
        self.sizes: dict[object, int] = {name: choice.randint(2, 5) for name in "ABC"}
        self.has_list, self.has_dict = choice.random() < 0.25, choice.random() < 0.15
        self.star = choice.random() < 0.1
        self.names = [*self.tensors, "n", "opt", "mode", "flag"]
        self.names += ["xs"] * self.has_list + ["d"] * self.has_dict + ["more"] * self.star

    @property
    def signature(self) -> str:
        """The function's parameters."""
        given = [*self.tensors, *(["xs"] * self.has_list), *(["d"] * self.has_dict)]
        given += ["n=2", "opt=None", "mode='sum'", "flag=False"]
        return ", ".join(given + ["**more"] * self.star)

    def calls(self, count: int) -> list[Made]:
        """Calls, the first of them plain in most programs."""
        first = "alias" if self.random.random() < 0.15 else ""
        made = [Made(self._call(first, 0), True)]
        for index in range(1, count):
            change = (
                self.random.choice(_CHANGES.split())
                if index > 1
                else self.random.choice(("again", "sizes", "numbers", *_CHANGES.split()))
            )
            made.append(Made(self._call(change, index), change in _STRICT))
        return made

    def _call(self, change: str, index: int) -> Call:
        setup = []
        sizes = dict(self.sizes)
        if change == "sizes":
            sizes = {name: self.random.randint(2, 6) for name in sizes}
        elif change in ("one", "empty"):
            sizes[self.random.choice("ABC")] = 1 if change == "one" else 0
        for name in self.tensors:
            shape = tuple(sizes.get(d, d) for d in self.shapes[name])
            dtype = self.dtypes[name]
            if change == "dtype" and self.random.random() < 0.6:
                dtype = self.random.choice(DTYPES)
            strided = self.layouts[name]
            if change == "layout" and self.random.random() < 0.7:
                strided = not strided
            setup.append(f"{name} = {self._tensor(shape, dtype, strided)}")
        setup += self._aliases(change)
        setup += self._globals(change)
        if change == "earlier" and index:
            name, before = self.random.choice(self.tensors), self.random.randrange(index)
            setup.append(f"{name} = r{before} if isinstance(r{before}, torch.Tensor) else {name}")
        if self.has_list:
            parts = ", ".join(self.random.choices(self.tensors, k=self.random.randint(1, 3)))
            setup.append(f"xs = [{parts}]")
        if self.has_dict:
            setup.append(f"d = {{'a': {self.random.choice(self.tensors)}, 'b': 2}}")
        return Call(tuple(setup), f"f({self._arguments(change, index)})")

    def _tensor(self, shape: tuple[int, ...], dtype: str, strided: bool) -> str:
        self.seed += 1
        end = f"torch.{dtype}, {self.seed}{', True' if self.special else ''})"
        plain = f"values({shape}, {end}"
        if not strided or not shape:
            return plain
        rank = len(shape)
        options = [f"values({(*shape[:-1], shape[-1] * 2)}, {end}[..., ::2]"]
        options.append(f"values({(shape[0] + 1, *shape[1:])}, {end}[1:]")
        if rank > 1:
            turned = (*shape[:-2], shape[-1], shape[-2])
            options += [f"values({turned}, {end}.mT"] * 3
        grown = (1, *shape[1:])
        options.append(f"values({grown}, {end}.expand({shape})")
        return self.random.choice(options)

    def _aliases(self, change: str) -> list[str]:
        if change not in ("alias", "overlap"):
            return []
        x, y = self.random.choice(self.tensors), self.random.choice(self.tensors)
        shape = self.shapes[x]
        if change == "overlap" and shape:
            return [f"wide = torch.cat([{x}, {x}])", f"{x}, {y} = wide[:-1], wide[1:]"]
        options = [f"{y} = {x}", f"{y} = {x}[...]", f"{y} = {x}.detach()", f"{y} = {x}.reshape(-1)"]
        if len(shape) > 1:
            options += [f"{y} = {x}.mT", f"{y} = {x}[0]", f"{y} = {x}[:, :1]"]
        if shape:
            options += [f"{y} = {x}[:1]", f"{y} = {x}[1:]", f"m.WEIGHT = {x}[:1]"]
            options += [f"m.config.weight = {x}"]
        return [self.random.choice(options)]

    def _globals(self, change: str) -> list[str]:
        if change != "globals":
            return []
        options = (
            "m.SCALE = 3.0",
            "m.SCALE = 2",
            "m.SCALE = torch.tensor(2.0)",
            "m.config.eps = 1.5",
            "m.config.eps = 2",
            "m.config.count = 3",
            "m.config.weight = torch.zeros(1)",
            "m.WEIGHT = torch.full((1,), 4.0)",
            "m.WEIGHT.fill_(3.0)",
            "m.TABLE['w'] = torch.ones(1)",
            "m.TABLE['k'] = 5",
            "m.STORE.append(torch.ones(1))",
            "m.Config.factor = 4",
            "m.config = m.Config()",
            "m.double = m.shifted",
            "m.config.factor = 3",
            "m.STORE = []",
            *objects.CHANGES,
        )
        return self.random.sample(options, self.random.randint(1, 2))

    def _arguments(self, change: str, index: int) -> str:
        given = [*self.tensors, *(["xs"] * self.has_list), *(["d"] * self.has_dict)]
        if change == "numbers" or index == 0 or self.random.random() < 0.4:
            given.append(f"n={self.random.choice(_NUMBERS)}")
        if change == "options" or self.random.random() < 0.15:
            given.append(f"opt={self.random.choice(self.tensors)}")
        if change == "mode":
            given.append("mode='mean'")
            given.append("flag=True")
        if self.star and self.random.random() < 0.7:
            given.append("extra=3")
        return ", ".join(given)
