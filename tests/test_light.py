"""The middle of the compiler is plain Python: it imports fast, without the heavy packages."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("torch", "libcst", "jinja2", "numpy", "cuda")

# The package's own __init__ imports the interface, and with it torch; here it is an empty stand-in,
# so that what is seen is what the rooms import themselves.
PROBE = """
import importlib, sys, types
package = types.ModuleType("astjit")
package.__path__ = [{package!r}]
sys.modules["astjit"] = package
for name in {names!r}:
    importlib.import_module(name)
print(*sorted(name for name in {heavy!r} if name in sys.modules))
"""


def heavy_imports(names, package=ROOT / "astjit"):
    """Those of HEAVY that a fresh interpreter has loaded after importing these modules."""
    probe = PROBE.format(package=str(package), names=names, heavy=HEAVY)
    ran = subprocess.run(
        [sys.executable, "-I", "-c", probe], capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


def modules(room, package=ROOT / "astjit"):
    return [
        f"astjit.{room}" if path.stem == "__init__" else f"astjit.{room}.{path.stem}"
        for path in sorted((package / room).glob("*.py"))
    ]


@pytest.mark.parametrize("room", ["types", "ops", "ir", "passes"])
def test_room_imports_without(room):
    assert modules(room)
    assert heavy_imports(modules(room)) == []


def test_a_heavy_import_is_seen(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "__init__.py").write_text("")
    (tmp_path / "ops" / "spec.py").write_text("import jinja2\n")
    assert heavy_imports(modules("ops", tmp_path), tmp_path) == ["jinja2"]


def test_the_heavy_packages_are_installed_here():
    # Otherwise nothing could import them and the tests above could not fail.
    assert all(importlib.util.find_spec(name) for name in HEAVY)
