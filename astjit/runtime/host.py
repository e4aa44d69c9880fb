"""The host function of a program as Python text: guards, allocations, launches, results.

    def rms_norm(x, residual, w, eps):
        try:
            ... guards, which return MISS ...
        except Exception:
            return MISS
        # h = x + residual   (model.py:12)
        h = empty_like(x)
        rms_norm_kernel(x.data_ptr(), ..., h.data_ptr(), x0, x1, eps, threads(20*x0*x1))
        return h

It is what runs, and what `fn.program_source` shows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from astjit.codegen.signature import Argument, Entry
from astjit.errors import InternalError
from astjit.frontend.reads import Reads
from astjit.fusion.graph import operands
from astjit.fusion.kernel import Group, Kernel, Part, Parts
from astjit.fusion.pieces import root_of
from astjit.ir.function import Function, Node
from astjit.ir.value import Literal, Param, Result, Value
from astjit.location import Location
from astjit.ops.host import constant_text, host_text, mutation_lines
from astjit.ops.library import REGISTERED
from astjit.ops.spec import Kind
from astjit.runtime.checks import guard_lines, reason_lines
from astjit.runtime.epilogue import epilogue
from astjit.runtime.guards import Guards
from astjit.runtime.interpret import run_regions, sizes_in
from astjit.runtime.lines import call_lines, indented, joined
from astjit.runtime.words import Words
from astjit.types.dtype import F32, F64
from astjit.types.shape import Dim, Sym, add, mul, product
from astjit.types.tensor import ScalarType, TensorType

SourceLine = Callable[[Location], str]
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class HostText:
    """A host function before it is made.

    Attributes:
        name: of the function in the text.
        text: its definition.
        why: the name of a second function, which gives the reason why a call does not fit.
        reason: its definition.
        guards: the guards alone, as a function that says whether a call fits.
        namespace: what the names in both texts stand for, the kernels' excepted.
        kernels: the kernels by their names in the text.
    """

    name: str
    text: str
    why: str
    reason: str
    guards: str
    namespace: dict[str, object]
    kernels: dict[str, Group]


def plain_entry(kernel: Kernel) -> Entry:
    """What a kernel is given where its variants decide what of it they take: everything."""
    arguments = [Argument("buffer", b.name, "pointer") for b in kernel.buffers]
    arguments += [Argument("size", axis, "long") for axis in kernel.axes]
    arguments += [Argument("stride", name, "long") for name in kernel.stride_names]
    arguments += [Argument("number", p.name, "double") for p in kernel.numbers]
    return Entry(kernel.name, tuple(arguments))


class HostWriter:
    """Writes one host function.

    Args:
        function: the SSA after passes.
        reads: guards, and how the results are put together.
        source_line: the user's source text at a location.
    """

    def __init__(self, function: Function, reads: Reads, source_line: SourceLine) -> None:
        self.function, self.reads, self.source_line = function, reads, source_line
        self.words = Words(("torch", *reads.parameters, *reads.constants))
        self.words.namespace.update({"torch": torch, **reads.constants})
        if self.words.namespace["torch"] is not torch or "torch" in reads.parameters:
            raise InternalError("`torch` means something else in this function")
        self.guards = Guards(function, reads, self.words)
        self.texts: dict[Value, str] = dict(self.guards.inputs)
        self.dense: dict[Value, str] = {}  # tensors that others may be allocated like
        self.kernels: dict[str, Group] = {}
        self.read: set[Value] = set()  # by kernels, themselves or through views
        self.held: dict[Value, Param] = {}  # values that kernels wrote to inputs
        self.lines: list[str] = []
        self.uses = Counter(root_of(v) for n in function.body.nodes for v in operands(n))
        self.uses.update(map(root_of, function.results))
        self._shown: set[tuple[str, int]] = set()

    def write(self, parts: Parts, entries: Mapping[str, Entry]) -> HostText:
        """The host function that runs `parts`; `entries` by kernel name."""
        self.dense = {
            p: self.texts[p] for p in self.function.params if isinstance(p.type, TensorType)
        }
        last = self._last_uses(parts.parts)
        kernels = (part for part in parts.parts if isinstance(part, Group))
        self.read = {root_of(v) for group in kernels for v in group.inputs}
        for at, part in enumerate(parts.parts):
            if isinstance(part, Group):
                self._launch(part, entries[part.kernel.name])
            else:
                self._library(part.node)
            self._drop([v for v, end in last.items() if end == at and v in self.texts])
        return self._finish([self._text(v) for v in self.function.results])

    def write_interpreted(self, run: Callable[..., object]) -> HostText:
        """The host function that gives the inputs to `run`, which returns the results."""
        name = self.words.define("interpreted", run)
        results = self.words.names.take("results")
        given = ", ".join(self.texts[p] for p in self.function.params)
        self.lines.append(f"{results} = {name}({given})")
        return self._finish([f"{results}[{at}]" for at in range(len(self.function.results))])

    # -- values ---------------------------------------------------------------------------------
    def _text(self, value: Value) -> str:
        if isinstance(value, Literal):
            return constant_text(value.value)
        if value not in self.texts:
            what = value.name or repr(value)
            raise InternalError(f"the program of {self.function.name} never makes {what}")
        return self.texts[value]

    def _size(self, dim: Dim) -> str:
        return self.guards.size(dim)

    def _sizes(self, dims: Iterable[Dim]) -> str:
        texts = [self._size(d) for d in dims]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def _last_uses(self, parts: tuple[Part, ...]) -> dict[Value, int]:
        """The part after which each value that a part made is no longer needed."""
        kept = {*self.function.results, *self.function.params}
        last: dict[Value, int] = {}
        for at, part in enumerate(parts):
            if isinstance(part, Group):
                used = (*part.inputs, *part.numbers, *part.outputs)
            else:
                used = (*operands(part.node), *part.node.results)
            last.update({v: at for v in used if v not in kept and not isinstance(v, Literal)})
        return last

    def _drop(self, values: list[Value]) -> None:
        names = [self.texts.pop(v) for v in values if isinstance(v.type, TensorType)]
        for value in values:
            self.dense.pop(value, None)
        if names:
            self.lines.append(f"del {', '.join(names)}")

    # -- parts ----------------------------------------------------------------------------------
    def _comment(self, places: Iterable[Location]) -> None:
        for place in places:
            if (place.file, place.line) in self._shown:
                continue
            self._shown.add((place.file, place.line))
            source = self.source_line(place).strip()
            shown = f"({place.file.rsplit('/', 1)[-1]}:{place.line})"
            room = _WIDTH - 8 - len(shown)
            source = source if len(source) <= room else f"{source[: room - 3]}..."
            self.lines.append(f"# {source}   {shown}" if source else f"# {shown}")

    def _library(self, node: Node) -> None:
        self._comment([node.location] if node.location else [])
        if "written" in node.fields:
            self._mutate(node)
            return
        if node.regions:
            self._regions(node)
            return
        operands = [None if v is None else self._text(v) for v in node.operands]
        scalar = all(isinstance(r.type, ScalarType) for r in node.results)
        value = host_text(node.op, operands, node.fields, scalar=scalar, size=self._size)
        names = [self.words.names.take(r.name, node.op.name) for r in node.results]
        self.lines.append(f"{', '.join(names)} = {value}")
        self.texts.update(zip(node.results, names, strict=True))
        self._lay(node)

    def _regions(self, node: Node) -> None:
        """A node with regions that no kernel runs: PyTorch does, lane by lane."""
        values = list(dict.fromkeys(operands(node)))
        sizes = sizes_in(node)
        run = partial(run_regions, node, tuple(values), tuple(sizes))
        name = self.words.define("run_regions", run)
        given = ", ".join([*map(self._text, values), *map(self._size, map(Sym, sizes))])
        names = [self.words.names.take(r.name, node.op.name) for r in node.results]
        self.lines.append(f"{', '.join(names)}, = {name}({given})")
        self.texts.update(zip(node.results, names, strict=True))

    def _lay(self, node: Node) -> None:
        """Kernels read results of library calls where their types say that the elements lie."""
        for result in node.results if "template" in node.fields else ():
            kind = result.type
            if str(node.fields["target"]).startswith(REGISTERED) and isinstance(kind, TensorType):
                given = f"{self.texts[result]}, {self._sizes(kind.dims)}"
                dtype = self.words.dtype(kind.dtype)
                self.lines.append(f"{self.words.word('promised')}({given}, {dtype})")
            if result in self.read and isinstance(kind, TensorType) and kind.rank > 0:
                name = self.texts[result]
                given = f"{name}, {self._sizes(kind.dims)}, {self._strides(kind)}"
                self.lines.append(f"{name} = {self.words.word('laid')}({given})")

    def _mutate(self, node: Node) -> None:
        """A torch function that writes: on copies, or on what nothing else needs."""
        operands = [None if v is None else self._text(v) for v in node.operands]
        names = [self.words.names.take(r.name, "made") for r in node.results]
        slots = node.fields["written"]
        assert isinstance(slots, tuple)
        for slot, name in zip(slots, names, strict=False):
            value = node.operands[slot]
            own = self.uses[value] == 1 and isinstance(value, Result) and _is_fresh(value)
            copy = operands[slot] if own else f"{self.words.word('copy_of')}({operands[slot]})"
            self.lines.append(f"{name} = {copy}")
            operands[slot] = name
        self.lines += mutation_lines(operands, node.fields, names[len(slots) :], self._size)
        self.texts.update(zip(node.results, names, strict=True))
        self._lay(node)

    def _launch(self, group: Group, entry: Entry) -> None:
        kernel = group.kernel
        self._comment(kernel.lines)
        self.texts.update({value: self.texts[param] for value, param in group.held.items()})
        self.held.update(group.held)
        written = [b.name for b in kernel.buffers if b.role == "out"]
        for value, buffer in zip(group.outputs, written, strict=True):
            if value in group.held:
                continue
            name = self.words.names.take(value.name, buffer)
            self.lines.append(f"{name} = {self._allocation(value)}")
            self.texts[value] = self.dense[value] = name
        local = self.words.names.take(f"{kernel.name}_kernel")
        self.kernels[local] = group
        given = self._arguments(group, entry)
        self.lines += call_lines(f"{local}(", given, _WIDTH - 4)

    def _arguments(self, group: Group, entry: Entry) -> list[str]:
        kernel = group.kernel
        pointers = self._pointers(group)
        numbers = dict(zip((p.name for p in kernel.numbers), group.numbers, strict=True))
        bytes_moved = add(*(self._bytes(kernel, at, group.extents) for at in range(len(pointers))))
        count = f"{self.words.word('threads')}({self._size(bytes_moved)})"
        given = []
        for argument in entry.arguments:
            match argument.role:
                case "buffer":
                    given.append(pointers[argument.name])
                case "size":
                    given.append(self._size(group.extents[argument.name]))
                case "stride":
                    given.append(self._size(group.strides[argument.name]))
                case "number":
                    given.append(self._text(numbers[argument.name]))
                case "work":
                    count, work = self._scratch(group, entry, count)
                    given.append(f"{work}.data_ptr()")
                case "part":
                    given.append(f"{self._part(group)}.data_ptr()")
                case "threads":
                    given.append(count)
        return given

    def _pointers(self, group: Group) -> dict[str, str]:
        """Text of the address of each buffer."""
        inputs = iter(zip(group.inputs, group.offsets, strict=True))
        outputs = iter(group.outputs)
        pointers = {}
        for buffer in group.kernel.buffers:
            if buffer.role != "out":
                value, offset = next(inputs)
                text = f"{self._text(value)}.data_ptr()"
                if offset != 0:
                    text += f" + {self._size(mul(offset, buffer.dtype.itemsize))}"
            else:
                text = f"{self._text(next(outputs))}.data_ptr()"
            pointers[buffer.name] = text
        return pointers

    def _bytes(self, kernel: Kernel, at: int, extents: Mapping[str, Dim]) -> Dim:
        buffer = kernel.buffers[at]
        return mul(buffer.dtype.itemsize, *(extents[a] for a in buffer.axes if a in extents))

    def _scratch(self, group: Group, entry: Entry, count: str) -> tuple[str, str]:
        """Rows of floats for each thread; the number of threads is now a variable."""
        used = self.words.names.take("thread_count")
        work = self.words.names.take("work")
        row = product(group.extents[axis] for axis in group.kernel.swept)
        empty, single = self.words.word("empty_strided_cpu"), self.words.dtype(F32)
        floats = f"{used} * {entry.scratch} * ({self._size(row)})"
        self.lines.append(f"{used} = {count}")
        self.lines.append(f"{work} = {empty}(({floats},), (1,), {single})")
        return used, work

    def _part(self, group: Group) -> str:
        """Memory for 8 bytes a row."""
        part, empty = self.words.names.take("part"), self.words.word("empty_strided_cpu")
        rows = self._size(product(group.extents[axis] for axis in group.kernel.parallel))
        self.lines.append(f"{part} = {empty}(({rows},), (1,), {self.words.dtype(F64)})")
        return part

    def _allocation(self, value: Value) -> str:
        """Text that makes the tensor of `value`, in the layout that eager would give it."""
        kind = value.type
        assert isinstance(kind, TensorType)
        sizes, strides = self._sizes(kind.dims), self._strides(kind)
        dtype = self.words.dtype(kind.dtype)
        if kind.device == "cpu":
            return f"{self.words.word('empty_strided_cpu')}({sizes}, {strides}, {dtype})"
        near = [(v, n) for v, n in self.dense.items() if _tensor(v).device == kind.device]
        for other, name in near:
            if _alike(_tensor(other), kind) and not (isinstance(other, Param) and 1 in kind.dims):
                return f"{self.words.word('empty_like')}({name})"
        if near:
            return f"{near[0][1]}.new_empty_strided({sizes}, {strides}, dtype={dtype})"
        place = f"{self.words.word('device')}({kind.device!r})"
        empty = self.words.word("empty_strided")
        return f"{empty}({sizes}, {strides}, dtype={dtype}, device={place})"

    def _strides(self, kind: TensorType) -> str:
        """Strides of a new tensor; as in torch, an empty axis counts as one of size 1."""
        if kind.order is None:
            return self._sizes(kind.element_strides())
        texts = [""] * kind.rank
        running: list[str] = []
        for axis in reversed(kind.order):
            several = len(running) > 1
            factors = (f"({t})" if several and " " in t else t for t in reversed(running))
            texts[axis] = " * ".join(factors) or "1"
            size = kind.dims[axis]
            if size not in (0, 1):
                running.append(str(size) if isinstance(size, int) else f"{self._size(size)} or 1")
        return f"({', '.join(texts)}{',' if kind.rank == 1 else ''})"

    # -- the whole ------------------------------------------------------------------------------
    def _finish(self, results: list[str]) -> HostText:
        name = self.words.names.take(self.function.name, "program")
        why = self.words.names.take("why_not")
        miss, error = self.words.word("MISS"), self.words.word("Exception")
        head = f"({', '.join(self.reads.parameters)}):"
        items = self.guards.items
        guards = list(guard_lines(items, miss))
        tried = indented(guards, 2) if guards else ["        pass"]
        text = [f"def {name}{head}", "    try:", *tried, f"    except {error}:"]
        end = epilogue(self.reads, results, self.words.names.take)
        self.lines += end.made
        self._copy_back(results)
        self.lines += end.stored
        text += [f"        return {miss}", *indented(self.lines, 1)]
        text.append(f"    return {end.returned}")
        reasons = list(reason_lines(items))
        explain = [f"def {why}{head}", "    try:", *(indented(reasons, 2) or ["        pass"])]
        explain += [f"    except {error} as error:", "        return f'a guard raised {error!r}'"]
        explain.append("    return ''")
        namespace = dict(self.words.namespace)
        fits = [f"def {name}_fits{head}", "    try:", *indented(guard_lines(items, "False"), 2)]
        fits += [f"    except {error}:", "        return False", "    return True"]
        texts = joined(text), why, joined(explain), joined(fits)
        return HostText(name, *texts, namespace, self.kernels)

    def _copy_back(self, results: list[str]) -> None:
        """Give inputs that were written their new elements, after all that can fail."""
        inputs = {p.path: p for p in self.function.params}
        for copied in self.reads.copies:
            target = self.texts[inputs[copied.path]]
            if self.function.results[copied.index] in self.held:
                self.lines.append(f"{self.words.word('written')}({target})")
            else:
                self.lines.append(f"{target}.copy_({results[copied.index]})")


def _is_fresh(value: Result) -> bool:
    """Whether it certainly has memory of its own."""
    node = value.node
    return isinstance(node, Node) and node.op.kind not in (Kind.VIEW, Kind.LIBRARY)


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _alike(one: TensorType, other: TensorType) -> bool:
    if one.dtype is not other.dtype or one.dims != other.dims:
        return False
    both = one.is_contiguous and other.is_contiguous
    return both or (one.order is not None and one.order == other.order)
