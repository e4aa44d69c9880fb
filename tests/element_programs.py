"""Random element functions: text that Python runs and that the element language must agree with.

Divisors are never 0, ints stay below 2**40, and loops end: what is left must be equal, bit by bit.
By hand: python -m tests.element_programs 2000 7 runs 2,000 programs from seed 7.
"""

import linecache
import random
import sys
import warnings

import torch

import astjit

FLOATS, INTS = ("x", "y"), ("n", "m")


class Writer:
    """Writes one function.

    Attributes:
        floats: names that certainly hold a number with a fraction.
        ints: names that certainly hold an int.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.floats, self.ints = list(FLOATS), list(INTS)
        self.lines, self.depth, self.loops, self.count = [], 1, 0, 0
        self.helpers = []

    def program(self):
        pick = self.random
        self.lines = ["def f(x, y, n, m):"]
        for _ in range(pick.randint(0, 2)):
            self.helper()
        for _ in range(pick.randint(2, 6)):
            self.statement(3)
        self.add(f"return {self.result()}")
        return "\n".join(self.lines) + "\n"

    def add(self, text):
        self.lines.append("    " * self.depth + text)

    def result(self):
        return f"{self.number(2)}, {self.whole(2)}, {self.test(1)}"

    def fresh(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    # --- expressions ---

    def number(self, depth):
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            return pick.choice([*self.floats, *self.floats, repr(round(pick.uniform(-3, 3), 2))])
        a, b = (lambda: self.number(depth - 1)), (lambda: self.number(depth - 1))
        kind = pick.randrange(15)
        if kind < 4:
            return f"({a()} {pick.choice('+-*')} {b()})"
        if kind == 4:
            return f"({a()} / (abs({b()}) + 0.5))"
        if kind == 5:
            return (
                f"({a()} {pick.choice(['//', '%'])} ({pick.choice(['', '-'])}(abs({b()}) + 0.5)))"
            )
        if kind == 6:
            return f"({a()} if {self.test(depth - 1)} else {b()})"
        if kind == 7:
            return f"{pick.choice(['max', 'min'])}({a()}, {b()})"
        if kind == 8:
            return f"({a()} {pick.choice(['or', 'and'])} {b()})"
        if kind == 9:
            return f"(-{a()})"
        if kind == 10 and self.helpers:
            return f"{pick.choice(self.helpers)}({a()}, {b()})"
        if kind == 11:
            return f"({a()} + {self.whole(depth - 1)})"
        if kind == 12:
            return f"({a()}, {b()})[{pick.randrange(2)}]"
        if kind == 13:
            return f"({self.whole(depth - 1)} / 4)"
        return f"sum([v * {a()} for v in (1.0, {b()}, 2) if {pick.choice(['True', '1 < 2'])}])"

    def whole(self, depth):
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            return pick.choice([*self.ints, *self.ints, str(pick.randint(-9, 9))])
        a, b = (lambda: self.whole(depth - 1)), (lambda: self.whole(depth - 1))
        kind = pick.randrange(10)
        if kind < 3:
            return f"({a()} {pick.choice('+-')} {b()})"
        if kind == 3:
            return f"(({a()} * {b()}) % 10007)"
        if kind == 4:
            divisor = pick.choice([f"(abs({b()}) + 1)", f"-(abs({b()}) + 2)", "3", "-4"])
            return f"({a()} {pick.choice(['//', '%'])} {divisor})"
        if kind == 5:
            return f"({a()} if {self.test(depth - 1)} else {b()})"
        if kind == 6:
            return f"{pick.choice(['max', 'min'])}({a()}, {b()})"
        if kind == 7:
            return f"({a()} {pick.choice('&|^')} {b()})"
        if kind == 8:
            return f"({self.test(depth - 1)} + {a()})"
        return f"({a()} {pick.choice(['or', 'and'])} {b()})"

    def test(self, depth):
        pick = self.random
        side = pick.choice([self.number, self.whole])
        if depth == 0 or pick.random() < 0.3:
            return f"({side(0)} {pick.choice(['<', '<=', '>', '>=', '==', '!='])} {side(0)})"
        kind = pick.randrange(6)
        if kind == 0:
            return f"({self.test(depth - 1)} and {self.test(depth - 1)})"
        if kind == 1:
            return f"({self.test(depth - 1)} or {self.test(depth - 1)})"
        if kind == 2:
            return f"(not {self.test(depth - 1)})"
        if kind == 3:
            return f"({side(depth - 1)} < {side(0)} <= {side(depth - 1)})"
        if kind == 4:
            return f"({self.whole(depth - 1)} in (1, 2, {self.whole(0)}))"
        return f"({side(depth - 1)} {pick.choice(['<', '>='])} {side(depth - 1)})"

    # --- statements ---

    def helper(self):
        name = self.fresh("g")
        kept = list(self.floats), list(self.ints)
        self.add(f"def {name}(a, b=1.5):")
        self.floats, self.depth = [*self.floats, "a", "b"], self.depth + 1
        loops, self.loops = self.loops, 0
        if self.random.random() < 0.6:
            self.add(f"if {self.test(1)}:")
            self.add(f"    return {self.number(1)}")
        self.statement(1)
        self.add(f"return {self.number(2)}")
        self.loops, self.depth = loops, self.depth - 1
        self.floats, self.ints = kept
        self.helpers.append(name)

    def block(self, depth):
        """An indented block; the names that it adds are forgotten after it."""
        kept = list(self.floats), list(self.ints)
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth - 1)
        self.depth -= 1
        self.floats, self.ints = kept

    def statement(self, depth):
        pick = self.random
        kind = pick.randrange(12) if depth > 0 else pick.randrange(4)
        if kind < 4:
            self.assign()
        elif kind < 7:
            self.branch(depth)
        elif kind == 7:
            self.counted(depth)
        elif kind == 8:
            self.until(depth)
        elif kind == 9 and self.loops:
            self.add(f"if {self.test(1)}:")
            self.add(f"    {pick.choice(['break', 'continue'])}")
        elif kind == 10 and self.depth == 1 + self.loops and not self.in_helper():
            self.add(f"if {self.test(1)}:")
            self.add(f"    return {self.result()}")
        else:
            self.assign()

    def in_helper(self):
        return any(line.startswith("    def") for line in self.lines) and "a" in self.floats

    def assign(self):
        pick = self.random
        kind = pick.randrange(7)
        if kind == 0:
            self.add(
                f"{pick.choice(self.floats)} {pick.choice(['+=', '-=', '*='])} {self.number(1)}"
            )
        elif kind == 1:
            self.add(f"{pick.choice(self.ints)} {pick.choice(['+=', '-=', '%='])} 7")
        elif kind == 2:
            name = self.fresh("i")
            self.add(f"{name} = {self.whole(2)}")
            self.ints.append(name)
        elif kind == 3:
            a, b = pick.sample(self.floats, 2)
            self.add(f"{a}, {b} = {self.number(1)}, {self.number(1)}")
        elif kind == 4:
            name = self.fresh("w")
            self.add(f"{pick.choice(self.floats)} = ({name} := {self.number(1)}) + {name}")
            self.floats.append(name)
        else:
            name = self.fresh("v")
            self.add(f"{name} = {self.number(2)}")
            self.floats.append(name)

    def branch(self, depth):
        pick = self.random
        self.add(f"if {self.test(2)}:")
        self.block(depth)
        if pick.random() < 0.3:
            self.add(f"elif {self.test(1)}:")
            self.block(depth)
        if pick.random() < 0.6:
            self.add("else:")
            self.block(depth)

    def counted(self, depth):
        pick = self.random
        name = self.fresh("k")
        bounds = pick.choice(
            ["4", "n", "0, 5, 2", "5, 0, -2", "m, m + 3", "3, n, -1", "n, 6, abs(m) + 1"]
        )
        source = pick.choice([f"range({bounds})", f"range({bounds})", "(1, 2, 5)"])
        self.add(f"for {name} in {source}:")
        self.loop(depth, [name])

    def until(self, depth):
        name = self.fresh("c")
        self.add(f"{name} = 0")
        self.add(f"while {name} < {self.random.randint(1, 6)} and {self.test(1)}:")
        self.add(f"    {name} += 1")
        self.loop(depth, [name], protected=name)

    def loop(self, depth, ints, protected=""):
        kept = list(self.ints)
        self.ints += [i for i in ints if i != protected]
        self.loops += 1
        self.block(depth)
        self.loops -= 1
        self.ints = kept
        if self.random.random() < 0.3:
            self.add("else:")
            self.block(depth)


def function_of(text, seed):
    """The function, with its text where Python finds it."""
    file = f"<element program {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def inputs():
    generator = torch.Generator().manual_seed(3)
    floats = [
        torch.randn(12, generator=generator, dtype=torch.float64).round(decimals=2) for _ in "xy"
    ]
    ints = [torch.randint(-6, 7, (12,), generator=generator) for _ in "nm"]
    floats[0][0], floats[1][1], ints[0][2] = 0.0, -0.0, 0
    return *floats, *ints


def check(seed):
    """Whether a program was compiled; raises AssertionError if it is wrong."""
    text = Writer(seed).program()
    made = astjit.elementwise(function_of(text, seed), max_trips=1000)
    given = inputs()
    try:
        want = made.reference(*given)
    except (OverflowError, RuntimeError):
        return False  # an int beyond 64 bits
    except NameError:  # a helper assigns a name of its own before it has a value
        want = None
    try:
        got = made(*given)
    except astjit.ElementError as error:
        if error.code not in ("AJ104", "AJ105"):
            raise AssertionError(f"{text}\n{error}") from error
        return False
    assert want is not None, text
    for one, other in zip(got, want, strict=True):
        same = (one == other) | (one.isnan() & other.isnan())
        assert one.dtype is other.dtype, text
        assert bool(same.all()), f"{text}\n{one}\n{other}"
    return True


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    done = []
    for s in range(seed, seed + count):
        try:
            done.append(check(s))
        except Exception as error:
            print(f"seed {s}: {type(error).__name__}: {error}")
    print(f"{sum(done)} of {count} programs were compiled, all as Python runs them")


if __name__ == "__main__":
    main()
