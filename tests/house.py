"""The house rules as functions: each takes the root of a checkout and lists what breaks the rule.

`test_house.py` runs all of them on this checkout, and each on small trees that break it.
"""

import ast
import fnmatch
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = "astjit"

# A module imports from floors strictly below its own, and from its own room.
FLOORS = (
    ("errors", "config", "location"),
    ("types",),
    ("ops", "targets", "text"),
    ("ir",),
    ("passes",),
    ("autodiff", "fusion"),
    ("frontend", "codegen"),
    ("runtime",),
    ("compiler",),
    ("report",),
    ("api", "elements"),
    ("__init__", "__main__"),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ROOMS_OF_FILES = (
    {"errors", "config", "location"},
    {"api", "elements"},
    {"__init__", "__main__"},
)  # files that are one room
LATE_IMPORT = (f"{PACKAGE}/api.py", f"{PACKAGE}.compiler")  # loaded on the first compile, only here

MAX_FILE, MAX_FUNCTION = 400, 60
ROW_TABLES = frozenset(
    f"{PACKAGE}/ops/{name}.py"
    for name in (
        "elementwise",
        "reduce",
        "shape",
        "gather",
        "composite",
        "control",
        "library",
        "random",
    )
)
# Modules without a test of their own, each with the reason.
NO_MIRROR: dict[str, str] = {}

VAGUE = frozenset({"utils", "util", "common", "helpers", "helper", "misc"})
TOP_LEVEL = frozenset(
    {
        ".ci",
        ".git",
        ".gitattributes",
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "astjit",
        "benchmarks",
        "docs",
        "examples",
        "pyproject.toml",
        "templates",
        "tests",
    }
)
Check = Callable[[Path], list[str]]
Def = (ast.FunctionDef, ast.AsyncFunctionDef)


# --- reading a tree ------------------------------------------------------------------------------


@cache
def _parsed(text: str) -> ast.Module:
    """The tree of a text; nobody changes it, so that every check may share it."""
    return ast.parse(text)


def sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package: its path within `root`, with slashes, and its syntax tree."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        yield path.relative_to(root).as_posix(), _parsed(path.read_text(encoding="utf-8"))


def module_name(path: str) -> str:
    """astjit/ops/spec.py => astjit.ops.spec; astjit/ops/__init__.py => astjit.ops."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room(module: str) -> str:
    """astjit.ops.spec => ops; astjit.api => api; astjit => __init__."""
    return (*module.split("."), "__init__")[1]


def same_room(one: str, other: str) -> bool:
    return one == other or any({one, other} <= files for files in ROOMS_OF_FILES)


def imports(tree: ast.AST, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Line and module of each absolute import, wherever it stands; `modules` are the tree's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield node.lineno, whole if whole in modules else node.module


def inner_imports(root: Path) -> Iterator[tuple[str, int, str, str]]:
    """Path, module, line and target of each import of the package by itself."""
    trees = list(sources(root))
    modules = {module_name(path) for path, _ in trees}
    for path, tree in trees:
        for line, target in imports(tree, modules):
            if target.split(".")[0] == PACKAGE:
                yield path, line, module_name(path), target


# --- imports -------------------------------------------------------------------------------------


def floors(root: Path) -> list[str]:
    """Imports go down, or stay in the room; every room has a floor."""
    found = [
        f"{path}: no floor for {room(module_name(path))!r}"
        for path, _ in sources(root)
        if room(module_name(path)) not in FLOOR_OF
    ]
    for path, line, module, target in inner_imports(root):
        mine, theirs = room(module), room(target)
        if same_room(mine, theirs) or mine not in FLOOR_OF:
            continue
        if theirs not in FLOOR_OF:
            found.append(f"{path}:{line}: imports {target}, which has no floor")
        elif FLOOR_OF[theirs] >= FLOOR_OF[mine]:
            heights = f"floor {FLOOR_OF[mine]} imports floor {FLOOR_OF[theirs]}"
            found.append(f"{path}:{line}: {heights} ({target})")
    return found


def cycles(root: Path) -> list[str]:
    """No module reaches itself through imports."""
    graph: dict[str, set[str]] = {}
    for _, _, module, target in inner_imports(root):
        graph.setdefault(module, set()).add(target)
    found = []
    for start in sorted(graph):
        seen: set[str] = set()
        ahead = list(graph[start])
        while ahead:
            module = ahead.pop()
            if module not in seen:
                seen.add(module)
                ahead.extend(graph.get(module, ()))
        if start in seen:
            found.append(f"{start} imports itself, through others or at once")
    return found


def plain_imports(root: Path) -> list[str]:
    """Imports are absolute, by statement, at the top of the module; one late import is allowed."""
    found, late = [], 0
    for path, tree in sources(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                found.append(f"{path}:{node.lineno}: relative import")
            if isinstance(node, ast.Call) and _imports_by_call(node):
                found.append(f"{path}:{node.lineno}: import of {PACKAGE} by a call")
        for line, target in sorted(_local_imports(tree)):
            if (path, target) == LATE_IMPORT and late == 0:
                late += 1
            else:
                found.append(f"{path}:{line}: import inside a function ({target})")
    return found


def _local_imports(tree: ast.Module) -> set[tuple[int, str]]:
    inside: set[tuple[int, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, (*Def, ast.Lambda)):
            inside |= set(imports(node, {LATE_IMPORT[1]}))
    return inside


def _imports_by_call(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = call.args[0] if call.args else None
    text = first.value if isinstance(first, ast.Constant) else None
    return (
        name in ("import_module", "__import__")
        and isinstance(text, str)
        and text.split(".")[0] == PACKAGE
    )


def foreign_imports(root: Path) -> list[str]:
    """The package never imports the folders beside it, which a checkout makes importable."""
    return [
        f"{path}:{line}: imports {target}"
        for path, tree in sources(root)
        for line, target in imports(tree, set())
        if target.split(".")[0] in ("tests", "templates", "benchmarks", "examples")
    ]


# --- shape ---------------------------------------------------------------------------------------


def mirrors(root: Path, exceptions: dict[str, str] = NO_MIRROR) -> list[str]:
    """astjit/ROOM/MODULE.py has tests/ROOM/test_MODULE.py; an exception is needed and gives why."""
    found = []
    for path, _ in sources(root):
        if path.endswith("/__init__.py"):
            continue
        folder, _, file = path.removeprefix(f"{PACKAGE}/").rpartition("/")
        test = Path("tests", folder, f"test_{file.removesuffix('.py').strip('_')}.py")
        missing = not (root / test).is_file()
        if missing and not exceptions.get(path):
            found.append(f"{path}: no {test.as_posix()}")
        if not missing and path in exceptions:
            found.append(f"{path}: an exception, but {test.as_posix()} exists")
    gone = [path for path in exceptions if not (root / path).is_file()]
    return found + [f"{path}: an exception for no module" for path in gone]


def sizes(root: Path) -> list[str]:
    """A file has at most 400 lines (tables of rows may have more), a function at most 60."""
    found = []
    for path, tree in sources(root):
        count = len((root / path).read_text(encoding="utf-8").splitlines())
        if count > MAX_FILE and path not in ROW_TABLES:
            found.append(f"{path}: {count} lines, at most {MAX_FILE}")
        for node in ast.walk(tree):
            if isinstance(node, Def):
                long = (node.end_lineno or node.lineno) - node.lineno + 1
                if long > MAX_FUNCTION:
                    where = f"{path}:{node.lineno}: {node.name}"
                    found.append(f"{where} has {long} lines, at most {MAX_FUNCTION}")
    return found


def docstrings(root: Path) -> list[str]:
    """Modules and public classes, functions and methods say what they are for."""
    found = []
    for path, tree in sources(root):
        if not ast.get_docstring(tree):
            found.append(f"{path}: no docstring")
        found += [
            f"{path}:{node.lineno}: {node.name} has no docstring"
            for node in _public(tree)
            if not ast.get_docstring(node)
        ]
    return found


def _public(
    scope: ast.Module | ast.ClassDef,
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in scope.body:
        if not isinstance(node, (*Def, ast.ClassDef)) or node.name.startswith("_"):
            continue
        marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
        if marks & {"overload", "override", "setter"}:
            continue  # documented elsewhere: at the implementation, the base or the getter
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public(node)


def vague_names(root: Path) -> list[str]:
    """No module or room is named for having no subject."""
    return [
        f"{path}: a name that says nothing"
        for path, _ in sources(root)
        if VAGUE & set(Path(path).with_suffix("").parts)
    ]


def top_level(root: Path) -> list[str]:
    """The repository's top level holds what was agreed; what git ignores does not count."""
    ignore = root / ".gitignore"
    ignored = ignore.read_text(encoding="utf-8").split() if ignore.is_file() else []
    return [
        f"{path.name}: not among the names of the top level"
        for path in sorted(root.iterdir())
        if path.name not in TOP_LEVEL
        and not any(fnmatch.fnmatch(path.name, pattern.strip("/")) for pattern in ignored)
    ]


# --- words ---------------------------------------------------------------------------------------


def op_names(root: Path) -> list[str]:
    """Outside ops/, code asks an op's row and never compares its name with a text."""
    return [
        f"{path}:{node.lineno}: {ast.unparse(node).splitlines()[0]}"
        for path, tree in sources(root)
        if not path.startswith(f"{PACKAGE}/ops/")
        for node in ast.walk(tree)
        if _singles_out_an_op(node)
    ]


def _singles_out_an_op(node: ast.AST) -> bool:
    if isinstance(node, ast.Match):
        return _is_op_name(node.subject)
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    literal = any(isinstance(part, ast.Constant) for side in sides for part in ast.walk(side))
    member = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
    return any(map(_is_op_name, sides)) and (literal or member)


def _is_op_name(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="name", value=ast.Name(id="op") | ast.Attribute(attr="op")):
            return True
    return False


def public_names(root: Path) -> list[str]:
    """`__all__` of the package is sorted, without repeats, and holds all that is imported there."""
    path = root / PACKAGE / "__init__.py"
    tree = _parsed(path.read_text(encoding="utf-8"))
    listed: list[str] | None = None
    bound = {"__version__"}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=ast.List() as value):
                listed = ast.literal_eval(value)
            case ast.AnnAssign(target=ast.Name("__all__"), value=ast.List() as value):
                listed = ast.literal_eval(value)
            case ast.ImportFrom(names=names):
                bound |= {alias.asname or alias.name for alias in names}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
    if listed is None:
        return [f"{PACKAGE}/__init__.py: no list __all__"]
    found = [] if listed == sorted(set(listed)) else ["__all__ is not sorted"]
    public = {name for name in bound if not name.startswith("_")}
    found += [f"{name} is not in __all__" for name in sorted(public - set(listed))]
    found += [f"{name} is in __all__ and not bound" for name in sorted(set(listed) - bound)]
    return [f"{PACKAGE}/__init__.py: {problem}" for problem in found]


def environment_reads(root: Path) -> list[str]:
    """Only config.py reads environment variables."""
    reads = re.compile(r"\bos\.(getenv\(|environ(\.get\(|\[))")
    return [
        f"{path}:{number}: reads the environment"
        for path, _ in sources(root)
        if path != f"{PACKAGE}/config.py"
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1)
        if reads.search(line)
    ]


def unfinished(root: Path) -> list[str]:
    """A note of work to do names the issue where it is kept."""
    mark = re.compile(r"\b" + "TO" + "DO" + r"\b(?!.*#\d)")
    return [
        f"{path.relative_to(root).as_posix()}:{number}: work to do without an issue"
        for folder in (PACKAGE, "templates", "tests", "examples", "benchmarks")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".py", ".j2", ".h", ".cuh", ".cpp", ".cu")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if mark.search(line)
    ]


CHECKS: tuple[Check, ...] = (
    floors,
    cycles,
    plain_imports,
    foreign_imports,
    mirrors,
    sizes,
    docstrings,
    vague_names,
    top_level,
    op_names,
    public_names,
    environment_reads,
    unfinished,
)
