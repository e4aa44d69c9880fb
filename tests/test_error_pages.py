"""docs/errors has a page for each exception and warning; its example gives what the page shows."""

import inspect
import re
import runpy
import warnings
from pathlib import Path

import pytest

import astjit
from astjit import errors

PAGES = Path(__file__).resolve().parent.parent / "docs" / "errors"
OWN = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, errors.AstjitError | errors.AstjitWarning)
}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def said(name, folder):
    """What the example of a page says, and as what."""
    file = folder / "example.py"
    file.write_text(_FENCE.findall((PAGES / f"{name}.md").read_text())[0][1])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(file))
        except OWN[name] as error:
            return type(error), str(error).replace(str(file), "example.py")
    return told[-1].category, str(told[-1].message).replace(str(file), "example.py")


@pytest.mark.parametrize("name", OWN)
def test_pages(name, tmp_path):
    page = (PAGES / f"{name}.md").read_text()
    kind, text = said(name, tmp_path)
    assert page.startswith(f"# {name}\n")
    assert issubclass(kind, OWN[name])
    assert text.rstrip() + "\n" == _FENCE.findall(page)[1][1]


def test_every_page_is_of_one_of_ours():
    assert {path.stem for path in PAGES.glob("*.md")} == set(OWN)


def test_all_can_be_caught_by_name():
    assert [name for name in OWN if getattr(astjit, name, None) is not OWN[name]] == []


def test_the_tree_on_the_page_is_the_tree():
    listed = re.findall(r"([A-Z]\w+) {2,}", (PAGES / "AstjitError.md").read_text())
    assert set(listed) == set(OWN) - {"AstjitError", "AstjitWarning"}
