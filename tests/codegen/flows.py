"""Random bodies of maps with branches and loops, and what they give element by element."""

import random

import torch

from astjit.ir.parser import parse
from astjit.ir.value import Literal
from astjit.types.tensor import TensorType
from tests.fusion.execute import call_torch, torch_dtype

FLOATS = ("add", "sub", "mul", "div", "maximum", "minimum")
COMPARES = ("lt", "gt", "le", "ge", "eq", "ne")
NAMES = ("", "", "z", "step", "total", "i", "exp")


class Draw:
    """Draws one function with a map, as SSA text."""

    def __init__(self, seed, real="f32"):
        self.random = random.Random(seed)
        self.name, self.real, self.count, self.lines = f"f{seed}", real, 0, []

    def text(self):
        real = self.real
        self.lines = [f"fn {self.name}(%x: {real}[n], %y: {real}[n]):"]
        self.lines += [f"  %a, %b = map %x, %y : {real}[n], i64[n] {{"]
        self.lines += [f"    body(%p: {real}[], %q: {real}[]):"]
        scope = {"f": ["%p", "%q"], "i": [], "b": []}
        self.nodes(scope, 3, 6)
        (self.loop if self.random.random() < 0.7 else self.branch)(scope, 3, 6)
        self.lines += [f"      yield {self.pick(scope, 'f')}, {self.whole(scope, 3)}", "  }"]
        self.lines += ["  %c = mul %a, 0.5", "  return %c, %b"]
        return "\n".join(self.lines) + "\n"

    # -- values ---------------------------------------------------------------------------------
    def fresh(self):
        self.count += 1
        name = self.random.choice(NAMES)
        return f"%{name}.{self.count}" if name else f"%{self.count}"

    def put(self, depth, names, text):
        self.lines.append(f"{'  ' * depth}{', '.join(names)} = {text}")

    def pick(self, scope, kind):
        if kind == "f" and self.random.random() < 0.2:
            return repr(self.random.choice((0.5, -1.25, 2.0, 3.0)))
        if kind == "i" and (not scope["i"] or self.random.random() < 0.3):
            return str(self.random.randrange(-2, 5))
        return self.random.choice(scope[kind])

    def whole(self, scope, depth):
        """A whole number that is a value."""
        if not scope["i"]:
            name = self.fresh()
            self.put(depth, [name], f"where {self.truth(scope, depth)}, 1, 2")
            scope["i"].append(name)
        return self.random.choice(scope["i"])

    def truth(self, scope, depth):
        if scope["b"] and self.random.random() < 0.3:
            return self.random.choice(scope["b"])
        kind = "i" if scope["i"] and self.random.random() < 0.4 else "f"
        name = self.fresh()
        value = self.random.choice(scope[kind])
        self.put(depth, [name], f"{self.random.choice(COMPARES)} {value}, {self.pick(scope, kind)}")
        scope["b"].append(name)
        return name

    # -- nodes ----------------------------------------------------------------------------------
    def nodes(self, scope, depth, most):
        for _ in range(self.random.randrange(1, max(most, 2))):
            self.node(scope, depth, most)

    def node(self, scope, depth, most):
        what = self.random.random()
        deep = depth > 9
        if what < 0.15 and not deep:
            return self.branch(scope, depth, most)
        if what < 0.35 and not deep:
            return self.loop(scope, depth, most)
        name = self.fresh()
        if what < 0.75:
            value, other = self.random.choice(scope["f"]), self.pick(scope, "f")
            if what < 0.4:
                self.put(depth, [name], f"where {self.truth(scope, depth)}, {value}, {other}")
            else:
                self.put(depth, [name], f"{self.random.choice(FLOATS)} {value}, {other}")
            scope["f"].append(name)
        elif what < 0.85 and scope["i"]:
            text = f"{self.random.choice(('add', 'sub'))} {self.whole(scope, depth)}, "
            self.put(depth, [name], text + self.pick(scope, "i"))
            scope["i"].append(name)
        elif what < 0.92 and scope["i"]:
            self.put(depth, [name], f"to {self.whole(scope, depth)} {{dtype={self.real}}}")
            scope["f"].append(name)
        else:
            self.put(depth, [name], f"{self.random.choice(('neg', 'abs'))} {scope['f'][-1]}")
            scope["f"].append(name)
        return None

    def carried(self):
        return [self.random.choice("ffib") for _ in range(self.random.randrange(1, 4))]

    def types(self, kinds):
        return ", ".join({"f": f"{self.real}[]", "i": "i64[]", "b": "bool[]"}[k] for k in kinds)

    def yields(self, scope, kinds, depth):
        """A value of each kind; one is a value and no number, so that types are known."""
        return [
            self.truth(scope, depth)
            if k == "b"
            else self.whole(scope, depth)
            if k == "i"
            else self.random.choice(scope["f"])
            for k in kinds
        ]

    def branch(self, scope, depth, most):
        kinds, condition = self.carried(), self.truth(scope, depth)
        names = [self.fresh() for _ in kinds]
        self.put(depth, names, f"if {condition} : {self.types(kinds)} {{")
        for arm in ("then", "else"):
            self.lines.append(f"{'  ' * (depth + 1)}{arm}():")
            inside = {k: list(v) for k, v in scope.items()}
            if self.random.random() < 0.7:
                self.nodes(inside, depth + 2, most - 2)
            given = self.yields(inside, kinds, depth + 2)
            if arm == "else" and self.random.random() < 0.3:
                given = ["0.25" if k == "f" else "7" if k == "i" else "True" for k in kinds]
            self.lines.append(f"{'  ' * (depth + 2)}yield {', '.join(given)}")
        self.lines.append("  " * depth + "}")
        for name, kind in zip(names, kinds, strict=True):
            scope[kind].append(name)

    def loop(self, scope, depth, most):
        kinds = self.carried()
        counts = self.random.random() < 0.6
        breaks = self.random.random() < 0.5
        starts = self.yields(scope, kinds, depth)
        if not counts:
            kinds, starts = [*kinds, "i"], [*starts, "0"]
        names = [self.fresh() for _ in kinds]
        fields = " {breaks=True}" if breaks else ""
        given = [*self.bounds(scope, depth), *starts] if counts else starts
        op = "range" if counts else "while"
        self.put(depth, names, f"{op} {', '.join(given)}{fields} : {self.types(kinds)} {{")
        if not counts:
            self.test(scope, kinds, depth)
        params, inside = self.params(scope, kinds)
        index = self.fresh()
        head = [f"{index}: i64[]"] if counts else []
        self.lines.append(f"{'  ' * (depth + 1)}body({', '.join([*head, *params])}):")
        inside["i"] += [index] if counts else []
        self.nodes(inside, depth + 2, most - 1)
        ends = self.yields(inside, kinds, depth + 2)
        if not counts:
            ends[-1] = self.fresh()
            self.put(depth + 2, [ends[-1]], f"add {params[-1].split(':')[0]}, 1")
        if breaks:
            ends = self.stop(inside, kinds, ends, depth + 2)
        self.lines.append(f"{'  ' * (depth + 2)}yield {', '.join(ends)}")
        self.lines.append("  " * depth + "}")
        for name, kind in zip(names, kinds, strict=True):
            scope[kind].append(name)

    def bounds(self, scope, depth):
        step = self.random.choice((1, 1, 2, -1, -3))
        first, bound = self.random.randrange(-1, 3), self.random.randrange(-2, 6)
        if step < 0:
            first, bound = bound, first
        if scope["i"] and self.random.random() < 0.4:
            value, test, near = self.whole(scope, depth), self.fresh(), self.fresh()
            self.put(depth, [test], f"{'lt' if step > 0 else 'gt'} {value}, 4")
            self.put(depth, [near], f"where {test}, {value}, 4")
            if step < 0:
                return ["9", near, str(step)]
            return [str(first if first > 0 else 0), near, str(step)]
        return [str(first), str(bound), str(step)]

    def params(self, scope, kinds):
        inside = {k: list(v) for k, v in scope.items()}
        params = []
        for kind in kinds:
            name = self.fresh()
            params.append(f"{name}: {self.types([kind])}")
            inside[kind].append(name)
        return params, inside

    def test(self, scope, kinds, depth):
        params, inside = self.params(scope, kinds)
        self.lines.append(f"{'  ' * (depth + 1)}test({', '.join(params)}):")
        below, both = self.fresh(), self.fresh()
        self.put(depth + 2, [below], f"lt {params[-1].split(':')[0]}, {self.random.randrange(5)}")
        answer = below
        if self.random.random() < 0.5:
            other = self.truth(inside, depth + 2)
            self.put(depth + 2, [both], f"logical_and {below}, {other}")
            answer = both
        self.lines.append(f"{'  ' * (depth + 2)}yield {answer}")

    def stop(self, scope, kinds, ends, depth):
        """What a body yields that may stop: from a comparison, or from an `if`."""
        condition = self.truth(scope, depth)
        if self.random.random() < 0.4:
            return [condition, *ends]
        names = [self.fresh() for _ in range(1 + len(kinds))]
        self.put(depth, names, f"if {condition} : {self.types(['b', *kinds])} {{")
        arms = [("then", "True"), ("else", "False")]
        if self.random.random() < 0.3:
            arms = [("then", "False"), ("else", "True")]
        for arm, leaves in arms:
            self.lines.append(f"{'  ' * (depth + 1)}{arm}():")
            inside = {k: list(v) for k, v in scope.items()}
            if self.random.random() < 0.5:
                self.nodes(inside, depth + 2, 3)
            given = self.yields(inside, kinds, depth + 2)
            if ends and kinds[-1] == "i":
                given[-1] = ends[-1]
            self.lines.append(f"{'  ' * (depth + 2)}yield {', '.join([leaves, *given])}")
        self.lines.append("  " * depth + "}")
        return names


def draw(seed, real="f32"):
    """A function with a random map."""
    return parse(Draw(seed, real).text())


# -- the meaning --------------------------------------------------------------------------------
def run_map(node, inputs):
    """The results of a map, one element after another, each node by PyTorch on 0-d tensors."""
    inputs = torch.broadcast_tensors(*inputs)
    made = [
        block(node.regions[0], [t.reshape(-1)[i] for t in inputs], {})
        for i in range(inputs[0].numel())
    ]
    return [
        torch.stack(
            [torch.as_tensor(m[at], dtype=torch_dtype(result.type.dtype)) for m in made]
        ).reshape(inputs[0].shape)
        for at, result in enumerate(node.results)
    ]


def block(region, given, known):
    """What a region yields."""
    known = {**known, **dict(zip(region.params, given, strict=True))}
    for node in region.nodes:
        known.update(zip(node.results, run_element(node, known), strict=True))
    return [value(v, known) for v in region.results]


def value(v, known):
    return v.value if isinstance(v, Literal) else known[v]


def run_element(node, known):
    given = [None if v is None else value(v, known) for v in node.operands]
    if node.op.name == "if":
        return typed(node, block(node.regions[0 if given[0] else 1], [], known))
    if node.op.name == "while":
        carried, trips = typed(node, given), 0
        while block(node.regions[0], carried, known)[0]:
            if trips == node.fields["limit"]:
                raise TimeoutError
            trips += 1
            stop, carried = body(node, carried, known)
            if stop:
                break
        return carried
    if node.op.name == "range":
        carried = typed(node, given[3:])
        for index in range(*(int(v) for v in given[:3])):
            stop, carried = body(node, [torch.tensor(index), *carried], known)
            if stop:
                break
        return carried
    made = call_torch(node, given, {})
    return list(made) if isinstance(made, tuple | list) else [made]


def body(node, given, known):
    made = block(node.regions[-1], given, known)
    stop, made = (made[0], made[1:]) if node.fields["breaks"] else (False, made)
    return bool(stop), typed(node, made)


def typed(node, values):
    """Numbers as elements of the types that a node makes."""
    return [
        torch.as_tensor(v, dtype=torch_dtype(r.type.dtype)) if isinstance(r.type, TensorType) else v
        for v, r in zip(values, node.results, strict=True)
    ]
