"""This checkout keeps the house rules, and each rule notices the tree that breaks it."""

from pathlib import Path

import pytest

from tests import house

ROOT = Path(__file__).resolve().parent.parent

# A tree that keeps every rule; each planted fault changes one file of it.
CLEAN = {
    "astjit/__init__.py": (
        '"""Doc."""\nfrom astjit.api import compile, grad\n__all__ = ["compile", "grad"]\n'
    ),
    "astjit/__main__.py": '"""Doc."""\nimport astjit\n',
    "astjit/api.py": (
        '"""Doc."""\nimport torch\ndef compile():\n    """Doc."""\n'
        '    from astjit.compiler import build\n    return build\ndef grad():\n    """Doc."""\n'
    ),
    "astjit/compiler.py": (
        '"""Doc."""\nfrom astjit import errors\nfrom astjit.ir import walk\n'
        'def build():\n    """Doc."""\n'
    ),
    "astjit/config.py": '"""Doc."""\nimport os\nCXX = os.environ.get("CXX")\n',
    "astjit/errors.py": '"""Doc."""\nfrom astjit.location import Location\n',
    "astjit/location.py": '"""Doc."""\nclass Location:\n    """Doc."""\n',
    "astjit/ir/__init__.py": '"""Doc."""\n',
    "astjit/ir/walk.py": '"""Doc."""\nfrom astjit.ops.spec import Op\n',
    "astjit/ops/__init__.py": '"""Doc."""\n',
    "astjit/ops/spec.py": (
        '"""Doc."""\nclass Op:\n    """Doc."""\n    def same(self, op):\n        """Doc."""\n'
        '        return op.name == "add"\n    def _private(self):\n        pass\n'
    ),
    "templates/common/macros.j2": "{# contract: none #}\n",
    "tests/ir/test_walk.py": "",
    "tests/ops/test_spec.py": "",
    "tests/test_api.py": "",
    "tests/test_compiler.py": "",
    "tests/test_config.py": "",
    "tests/test_errors.py": "",
    "tests/test_location.py": "",
    "tests/test_main.py": "",
    "README.md": "",
    ".gitignore": ".venv/\n*.egg-info/\n",
    ".venv/bin/python": "",
}
WALK, DOC = "astjit/ir/walk.py", '"""Doc."""\n'
LONG_FUNCTION = DOC + "def _f():\n" + "    pass\n" * 60
WORK = "TO" + "DO"

# Rule, file, its text (None: the file is absent), what the rule must say.
FAULTS = [
    (house.floors, WALK, DOC + "from astjit.passes import cse\n", "floor 3 imports floor 4"),
    (house.floors, WALK, DOC + "import astjit\n", "floor 3 imports floor 11 (astjit)"),
    (house.floors, WALK, DOC + "from astjit import api\n", "imports floor 10 (astjit.api)"),
    (
        house.floors,
        "astjit/text/environment.py",
        DOC + "from astjit.ops import spec\n",
        "floor 2 imports floor 2",
    ),
    (
        house.floors,
        WALK,
        DOC + "if TYPE_CHECKING:\n    from astjit.runtime.program import Program\n",
        "walk.py:3: floor 3 imports floor 7",
    ),
    (
        house.floors,
        WALK,
        DOC + "def f():\n    from astjit.fusion.group import groups\n",
        "walk.py:3: floor 3 imports floor 5",
    ),
    (house.floors, "astjit/attic.py", DOC, "no floor for 'attic'"),
    (house.floors, WALK, DOC + "import astjit.attic\n", "astjit.attic, which has no floor"),
    (
        house.cycles,
        "astjit/location.py",
        DOC + "from astjit import errors\n",
        "astjit.errors imports itself",
    ),
    (house.plain_imports, WALK, DOC + "from ..ops import spec\n", "walk.py:2: relative import"),
    (house.plain_imports, WALK, DOC + "def f():\n    import json\n", "a function (json)"),
    (
        house.plain_imports,
        "astjit/api.py",
        DOC + "def f():\n    from astjit.ir import walk\n",
        "api.py:3: import inside a function",
    ),
    (
        house.plain_imports,
        "astjit/api.py",
        DOC + "def f():\n    from astjit.compiler import build\n    import astjit.compiler\n",
        "api.py:4: import inside a function",
    ),
    (
        house.plain_imports,
        WALK,
        DOC + 'importlib.import_module("astjit.api")\n',
        "walk.py:2: import of astjit by a call",
    ),
    (house.foreign_imports, WALK, DOC + "import templates\n", "walk.py:2: imports templates"),
    (house.foreign_imports, WALK, DOC + "from tests.house import x\n", "imports tests.house"),
    (house.mirrors, "tests/ir/test_walk.py", None, "walk.py: no tests/ir/test_walk.py"),
    (house.mirrors, "tests/test_main.py", None, "__main__.py: no tests/test_main.py"),
    (house.sizes, WALK, DOC + "x = 1\n" * 400, "walk.py: 401 lines"),
    (house.sizes, WALK, LONG_FUNCTION, "walk.py:2: _f has 61 lines"),
    (house.sizes, "astjit/ops/reduce.py", LONG_FUNCTION, "reduce.py:2: _f has 61 lines"),
    (house.docstrings, WALK, "x = 1\n", "walk.py: no docstring"),
    (house.docstrings, WALK, DOC + "def f():\n    pass\n", "walk.py:2: f has no docstring"),
    (
        house.docstrings,
        WALK,
        DOC + 'class A:\n    """Doc."""\n    def m(self):\n        pass\n',
        "walk.py:4: m has no docstring",
    ),
    (house.vague_names, "astjit/ir/utils.py", DOC, "utils.py: a name that says nothing"),
    (house.vague_names, "astjit/common/names.py", DOC, "common/names.py"),
    (house.top_level, "setup.cfg", "", "setup.cfg"),
    (house.top_level, "scripts/build.sh", "", "scripts"),
    (house.op_names, WALK, DOC + 'if op.name == "add":\n    pass\n', "walk.py:2: op.name == 'add'"),
    (house.op_names, WALK, DOC + "x = node.op.name in SPECIAL\n", "node.op.name in SPECIAL"),
    (house.op_names, WALK, DOC + 'x = v.op.name != "add"\n', "v.op.name != 'add'"),
    (
        house.op_names,
        WALK,
        DOC + 'match op.name:\n    case "add":\n        pass\n',
        "walk.py:2: match op.name:",
    ),
    (
        house.public_names,
        "astjit/__init__.py",
        'from astjit.api import compile, grad\n__all__ = ["grad", "compile"]\n',
        "__all__ is not sorted",
    ),
    (
        house.public_names,
        "astjit/__init__.py",
        'from astjit.api import compile, grad\n__all__ = ["compile"]\n',
        "grad is not in __all__",
    ),
    (
        house.public_names,
        "astjit/__init__.py",
        'from astjit.api import compile\n__all__ = ["compile", "grad"]\n',
        "grad is in __all__ and not bound",
    ),
    (house.public_names, "astjit/__init__.py", "", "no list __all__"),
    (house.environment_reads, WALK, DOC + 'x = os.environ["HOME"]\n', "walk.py:2: reads"),
    (house.environment_reads, WALK, DOC + 'x = os.getenv("HOME")\n', "walk.py:2: reads"),
    (house.unfinished, WALK, DOC + f"# {WORK}: later\n", "walk.py:2: work to do"),
    (
        house.unfinished,
        "templates/cuda/row.cu.j2",
        f"{{# {WORK} #}}\n",
        "templates/cuda/row.cu.j2:1: work to do",
    ),
]


@pytest.fixture
def plant(tmp_path):
    """Writes the clean tree, with one file changed, added or (text None) left out."""

    def write(changed="README.md", content=""):
        for name, text in {**CLEAN, changed: content}.items():
            if text is not None:
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize("check", house.CHECKS, ids=lambda check: check.__name__)
def test_this_checkout(check):
    found = check(ROOT)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("check", house.CHECKS, ids=lambda check: check.__name__)
def test_a_clean_tree_keeps_every_rule(check, plant):
    assert check(plant()) == []


@pytest.mark.parametrize(
    ("check", "file", "text", "message"),
    FAULTS,
    ids=[f"{check.__name__}-{message}" for check, _, _, message in FAULTS],
)
def test_a_planted_fault_is_found(check, file, text, message, plant):
    found = check(plant(file, text))
    assert len(found) >= 1
    assert any(message in line for line in found), found


def test_every_rule_has_a_planted_fault():
    assert {check for check, *_ in FAULTS} == set(house.CHECKS)


def test_floors_are_numbered_as_designed():
    assert house.FLOOR_OF == {
        **{"errors": 0, "config": 0, "location": 0, "types": 1},
        **{"ops": 2, "targets": 2, "text": 2, "ir": 3, "passes": 4, "autodiff": 5, "fusion": 5},
        **{"frontend": 6, "codegen": 6, "runtime": 7, "compiler": 8, "report": 9, "api": 10},
        **{"elements": 10, "__init__": 11, "__main__": 11},
    }


def test_tables_of_rows_may_be_long(plant):
    assert house.sizes(plant("astjit/ops/elementwise.py", DOC + "x = 1\n" * 900)) == []


def test_a_mirror_exception_needs_a_reason_and_a_use(plant):
    root = plant("tests/ir/test_walk.py", None)
    assert house.mirrors(root, {WALK: "rendered by another test"}) == []
    assert house.mirrors(root, {WALK: ""}) == [f"{WALK}: no tests/ir/test_walk.py"]
    spec = "astjit/ops/spec.py"
    kept = house.mirrors(root, {WALK: "why", spec: "why", "astjit/gone.py": "why"})
    assert kept == [
        f"{spec}: an exception, but tests/ops/test_spec.py exists",
        "astjit/gone.py: an exception for no module",
    ]


def test_comparing_two_ops_by_name_is_no_special_case(plant):
    assert house.op_names(plant(WALK, DOC + "x = a.op.name < b.op.name\n")) == []


def test_work_to_do_may_name_its_issue(plant):
    assert house.unfinished(plant(WALK, DOC + f"# {WORK}(#12): later\n")) == []


def test_documented_elsewhere(plant):
    text = DOC + "@typing.overload\ndef f(x: int) -> int: ...\n"
    assert house.docstrings(plant(WALK, text)) == []
