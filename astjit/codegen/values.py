"""Body values to C text: which become local names, which are written where they are used.

A value gets a name of its own if it carries the user's name, is used more than once, or would make
a line long. Everything else is part of the expression that uses it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from astjit.codegen.dialect import Dialect
from astjit.codegen.expression import Text, compose, number
from astjit.codegen.names import Names
from astjit.errors import InternalError
from astjit.fusion.kernel import Kernel, is_final, is_loop, is_position, is_reduce, is_store
from astjit.ir.function import Node, maker
from astjit.ir.value import Literal, Param, Result, Value
from astjit.ir.walk import outer_values
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F32, F64, I64, Category, DType
from astjit.types.shape import Dim, Expr, Sym
from astjit.types.tensor import TensorType, Type

_CAST, _ROUND = OPS["to"], OPS["round_to"]
_CHOICE = re.compile(r"([^?]+) \? ([^?:]+) : ([^?:]+)")
Writing = Callable[[Node, "Writer", Counter[Value]], list[str]]
Access = Callable[[Node, "Writer"], list[str]]
LONGEST = 64  # an expression longer than this gets a name


def dtype_of(kind: Type) -> DType:
    """The dtype in which a body value is held."""
    if isinstance(kind, TensorType):
        return kind.dtype.compute
    return {Category.BOOL: BOOL, Category.INTEGER: I64, Category.FLOAT: F64}[kind.category]


def number_ctype(kernel: Kernel, param: Param) -> str:
    """How a kernel takes a Python number: as float when nothing needs more of it."""
    dtype = dtype_of(param.type)
    if dtype is not F64:
        return "long" if dtype is I64 else "int"
    users = [n for n in kernel.body.walk() if param in n.values]
    only_f32 = all(n.fields.get("dtype") is F32 for n in users)
    return "float" if only_f32 else "double"


class Writer:
    """Texts of body values in nested scopes.

    Attributes:
        kernel: whose body it is.
        dialect: the target's spellings.
        names: identifiers taken so far.
        vectors: element values are vectors of lanes (CPU).
        again: ends the name of a value whose variable exists already.
        flow: writes a node that has regions, given a writer and how often each value is used.
        access: writes a load or store inside a region.
    """

    def __init__(self, kernel: Kernel, dialect: Dialect, names: Names, *, vectors: bool) -> None:
        self.kernel, self.dialect, self.names, self.vectors = kernel, dialect, names, vectors
        self.texts: dict[Value, Text] = {}
        self.again = "_v"
        self.flow: Writing = _no_flow
        self.access: Access = _no_access
        self.elements: set[Value] = set()  # values whose text is a vector
        self.either: frozenset[Value] = frozenset()  # a number, or a vector of one a row (CPU)

    spreads: ClassVar = {"vf": "fill", "vi": "every_lane", "vl": "spread"}

    def inner(self) -> "Writer":
        """A writer for a block inside this one: it sees these names, ours does not see its own."""
        made = Writer(self.kernel, self.dialect, self.names.child(), vectors=self.vectors)
        made.texts, made.elements, made.either = dict(self.texts), set(self.elements), self.either
        made.again, made.flow, made.access = self.again, self.flow, self.access
        return made

    def text(self, value: Value | None, dtype: DType = F32) -> Text:
        """The expression of a value; a literal is written in `dtype`."""
        if isinstance(value, Literal):
            return number(value.value, dtype, self.dialect.infinity, self.dialect.nan)
        assert value is not None
        return self.texts[value]

    def type_name(self, value: Value) -> str:
        """The C type of a value's local name."""
        dtype = dtype_of(value.type)
        if value in self.either:
            return "auto"
        if self.vectors and value in self.elements:
            return {BOOL: "vi", I64: "vl"}.get(dtype, "vf")
        return self.dialect.value_types[dtype.name]

    def vector(self, value: Value) -> str:
        """The text of a value where a vector is needed, if elements are vectors."""
        dtype = dtype_of(value.type)
        text = self.text(value, dtype).text
        if value in self.elements or not self.vectors:
            return text
        return f"{self.spreads[{BOOL: 'vi', I64: 'vl'}.get(dtype, 'vf')]}({text})"

    def place(self, value: Value, where: str) -> list[str]:
        """The index of elements as text; no statements."""
        self.texts[value] = Text(f"positions({where})" if self.vectors else where)
        self.elements.add(value)
        return []

    def expression(self, node: Node) -> Text:
        """The expression of an elementwise, size or cast node."""
        operands = node.values
        if node.op is _CAST or not operands:
            return self._cast(node) if operands else self._size(node)
        dtype = self._operand_dtype(node)
        spelling = node.op.spelling(self.dialect.languages, dtype.name)
        assert spelling is not None, f"{node.op.name} has no spelling for {self.dialect.languages}"
        texts = self._widened(operands, [self.text(v, dtype) for v in operands], dtype)
        beside = self.vectors and len(operands) > 1
        if beside and any(v in self.elements for v in operands):
            if dtype is I64:
                return self._of_longs(node, spelling)
            masks = all(dtype_of(v.type) is BOOL for v in operands if v in self.elements)
            whole = not spelling.startswith("{")
            # C++ takes no variables as the arms of a vector's choice, unless one is a vector
            arms = "?" in spelling and masks
            texts = [
                self._beside_vectors(v, t, dtype, whole or (arms and not isinstance(v, Literal)))
                for v, t in zip(operands, texts, strict=True)
            ]
        return compose(spelling, texts, {k: str(v) for k, v in node.fields.items()})

    def _widened(self, operands: Sequence[Value], texts: list[Text], dtype: DType) -> list[Text]:
        """With one number cast where C would compute 64-bit integers as its `int`."""
        pairs = list(enumerate(zip(operands, texts, strict=True)))
        numbers = [i for i, (v, t) in pairs if isinstance(v, Literal) or t.text.isdecimal()]
        narrow = all(i in numbers or dtype_of(v.type) is BOOL for i, (v, _) in pairs)
        if dtype is I64 and numbers and narrow:
            cast = self.dialect.cast.replace("{type}", self.dialect.value_types[I64.name])
            texts[numbers[0]] = compose(cast, (texts[numbers[0]],), {})
        return texts

    def _beside_vectors(self, value: Value, text: Text, dtype: DType, call: bool) -> Text:
        """An operand where another one is a vector: C++ widens numbers beside an operator."""
        if value in self.elements:
            return text
        held = dtype if isinstance(value, Literal) else dtype_of(value.type)
        if held is BOOL:
            return Text(f"every_lane({text.text})")
        return Text(f"fill({text.text})") if call else text

    def _of_longs(self, node: Node, spelling: str) -> Text:
        """An expression of vectors of 64-bit integers: their comparisons have narrow lanes."""
        compares = dtype_of(node.results[0].type) is BOOL
        where = [v for v in node.values if v in self.elements and _is_place(v)]
        if compares and len(where) == 1 and len(self.elements & set(node.values)) == 1:
            return self._of_position(node, spelling, where[0])
        texts = []
        for value in node.values:
            text = self.text(value, I64)
            truth = dtype_of(value.type) is BOOL
            if value not in self.elements and (truth or "?" in spelling):
                text = Text(f"{'every_lane' if truth else 'spread'}({text.text})")
            texts.append(text)
        # g++ chooses between vectors wider than the machine's lane by lane
        if choice := _CHOICE.fullmatch(spelling):
            test, one, other = choice.groups()
            test = test if test == "{0}" else f"truth({test})"
            spelling = f"choose({test}, {one}, {other})"
        made = compose(spelling, texts, {})
        return Text(f"truth({made.text})") if compares else made

    def _of_position(self, node: Node, spelling: str, place: Value) -> Text:
        """An index of lanes compared with a number: the lanes' numbers with what is left of it."""
        first = self.texts[place].text.removeprefix("positions(").removesuffix(")")
        texts = []
        for value in node.values:
            rest = compose("{0} - {1}", (self.text(value, I64), Text(first)), {})
            texts.append(Text("lane") if value is place else Text(f"near({rest.text})"))
        return compose(spelling, texts, {})

    def _operand_dtype(self, node: Node) -> DType:
        for value in reversed(node.values):
            if isinstance(value.type, TensorType) and value.type.dtype is not BOOL:
                return value.type.dtype.compute
        return dtype_of(node.results[0].type)

    def _size(self, node: Node) -> Text:
        value = node.fields["value"]
        assert isinstance(value, int | Sym | Expr)
        return size_text(value)

    def _cast(self, node: Node) -> Text:
        (value,) = node.values
        target = dtype_of(node.results[0].type)
        if isinstance(value, Literal):
            return self.text(value, target)
        text, source = self.texts[value], dtype_of(value.type)
        if isinstance(value, Param) and number_ctype(self.kernel, value) == "float":
            return text
        if source is target:
            return text
        if target is BOOL:
            zero = number(0, source, self.dialect.infinity, self.dialect.nan)
            made = compose("{0} != {1}", (text, zero), {})
            longs = self.vectors and value in self.elements and source is I64
            return Text(f"truth({made.text})") if longs else made
        if self.vectors and value in self.elements and I64 in (source, target):
            if source is BOOL:
                return Text(f"(wide({text.text}) & 1)")
            return Text(f"{'to_long' if target is I64 else 'to_float'}({text.text})")
        if self.vectors and value in self.elements:  # a mask of lanes
            return compose("{0} ? 1.0f : 0.0f", (text,), {})
        cast = self.dialect.cast.replace("{type}", self.dialect.value_types[target.name])
        return compose(cast, (text,), {})

    def wish(self, value: Result) -> str:
        """The name a value would like: the user's, else its op's."""
        if given := user_name(value):
            return given
        node = maker(value)
        assert node is not None
        if is_reduce(node):
            along = "column" if self.kernel.kind == "column" else "row"
            every = is_final(node) or self.kernel.kind == "full"
            return f"{'all' if every else along}_{node.fields['combine']}"
        return "rounded" if node.op is _ROUND else f"{node.op.name}_value"

    def note(self, node: Node) -> None:
        """Note that what is made of vectors is one."""
        if self.vectors and not node.regions and any(v in self.elements for v in node.values):
            self.elements.update(node.results)

    def declare(self, value: Result, text: Text) -> str:
        """A local constant with the value's name; later uses are that name."""
        kind, wish = self.type_name(value), self.wish(value)
        name = self.names.take(f"{wish}{self.again}" if wish in self.names else wish)
        self.texts[value] = Text(name)
        return f"const {kind} {name} = {text.text};"

    def write(
        self,
        nodes: Iterable[Node],
        uses: Counter[Value],
        special: Callable[[Node], list[str] | None],
    ) -> list[str]:
        """Statements for nodes in order.

        Args:
            nodes: what to compute.
            uses: how often each value is used in this scope.
            special: gives the statements of nodes that are not expressions (loads, kept values),
                or None for the others.
        """
        lines: list[str] = []
        for node in nodes:
            made = special(node)
            if made is None and node.regions:
                made = self.flow(node, self, uses)
            if made is not None:
                lines += made
                continue
            (value,) = node.results
            self.note(node)
            text = self.expression(node)
            small = dtype_of(value.type).bits < 32 and dtype_of(value.type) is not BOOL
            given = user_name(value)
            named = bool(given) and given not in self.names
            again = uses[value] != 1 and not (node.op is _CAST and text.text.count("(") < 3)
            if named or again or len(text.text) > LONGEST or small:
                lines.append(self.declare(value, text))
            else:
                self.texts[value] = text
        return lines


def _no_access(node: Node, writer: Writer) -> list[str]:
    raise InternalError(f"{node.op} cannot be written inside a region")


def _no_flow(node: Node, writer: Writer, uses: Counter[Value]) -> list[str]:
    raise InternalError(f"{node.op} cannot be written here")


def user_name(value: Value) -> str:
    """The user's variable for a value: fusion marks those that share a buffer's name with a `_`."""
    return value.name.rstrip("_")


def size_text(size: Dim) -> Text:
    """A size in C; sizes are never negative where `//` and `%` are used."""
    match size:
        case int():
            return Text(str(size))
        case Sym():
            return Text(size.name)
        case Expr("max" | "min" as op, (a, b)):
            left, right = size_text(a), size_text(b)
            test = compose("{0} > {1}" if op == "max" else "{0} < {1}", (left, right), {})
            return compose("{0} ? {1} : {2}", (test, left, right), {})
    spelled = {"add": "+", "mul": "*", "floordiv": "/", "mod": "%"}[size.op]
    texts = [size_text(arg) for arg in size.args]
    result = texts[0]
    for text in texts[1:]:
        result = compose(f"{{0}} {spelled} {{1}}", (result, text), {})
    return result


def count_uses(nodes: Iterable[Node]) -> Counter[Value]:
    """How often each value is an operand of `nodes`; what a loop reads each time counts twice."""
    found: Counter[Value] = Counter()
    for node in nodes:
        found.update(node.values[1:] if is_store(node) else node.values)
        if is_loop(node):
            found.update(node.values[: len(node.values) - len(node.results)])
            for region in node.regions:
                found.update(2 * outer_values(region))
        else:
            for region in node.regions:
                inside = count_uses(region.nodes) + Counter(region.results)
                found.update({v: inside[v] for v in outer_values(region)})
    return found


def _is_place(value: Value) -> bool:
    """Whether a value is the index of an axis."""
    node = maker(value)
    return node is not None and is_position(node)
