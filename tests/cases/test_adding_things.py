"""docs/adding-*.md: the code in them runs and does what they say, and the files they name exist."""

import re
import textwrap
from pathlib import Path

import pytest

from astjit.config import Config
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.passes import pipeline
from astjit.targets.table import TARGETS, target_named
from tests.check import check_pass
from tests.readme import block

ROOT = Path(__file__).resolve().parents[2]
DOCS = {path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob("docs/adding-*.md")}


def defined(name):
    """What the Python block of a page defines."""
    namespace = {}
    exec(block("python", DOCS[name]), namespace)
    return namespace


def test_every_page_is_here():
    assert sorted(DOCS) == ["adding-a-pass", "adding-a-target", "adding-a-template", "adding-an-op"]


@pytest.mark.parametrize("name", DOCS)
def test_files_that_a_page_names_exist(name):
    named = re.findall(r"`((?:astjit|templates|tests|docs|benchmarks)/[\w./-]+)`", DOCS[name])
    assert len(named) > 3
    missing = [p for p in named if "KIND" not in p and not (ROOT / p).exists()]
    assert missing == []


def test_the_ops_row_is_the_tested_one():
    tested = (ROOT / "tests/cases/test_adding_an_op.py").read_text(encoding="utf-8")
    assert block("python", DOCS["adding-an-op"]) in tested


def test_the_pass_does_what_its_page_shows(monkeypatch):
    selection = defined("adding-a-pass")["selection"]
    before, after = (block(name, DOCS["adding-a-pass"]) for name in ("before", "after"))
    check_pass(selection, before, after)
    row = pipeline.Pass("selection", selection)
    monkeypatch.setattr(pipeline, "PASSES", (row, *pipeline.PASSES))
    function = parse(textwrap.dedent(before))
    pipeline.run(function, Config())
    assert "maximum" not in function_text(function)


def test_the_target_is_found_by_its_name(monkeypatch):
    twin = defined("adding-a-target")["TWIN"]
    monkeypatch.setitem(TARGETS, twin.name, twin)
    assert target_named("twin") is twin
    assert twin.problem() == ""
