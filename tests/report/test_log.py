"""ASTJIT_LOG: topics, levels, and what is printed for a compiled call."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from astjit.errors import AstjitWarning
from astjit.report.log import TOPICS, follow

ROOT = Path(__file__).resolve().parents[2]
LOGGERS = ["astjit", *(f"astjit.{topic}" for topic in TOPICS)]
PROGRAM = """
import torch, astjit

@astjit.compile
def f(x, n):
    y = torch.cumsum(x * 2, 0)
    return y + 1

f(torch.ones(3, 2), 1)
f(torch.ones(3), 1)
"""


@pytest.fixture(autouse=True)
def levels():
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("info", {"astjit": "INFO"}),
        ("DEBUG", {"astjit": "DEBUG"}),
        ("fusion", {"astjit.fusion": "INFO"}),
        (" guards , build ", {"astjit.guards": "INFO", "astjit.build": "INFO"}),
        ("fusion,debug", {"astjit.fusion": "DEBUG"}),
        ("", {}),
    ],
)
def test_levels(asked, expected):
    follow(asked)
    set_levels = {name: logging.getLogger(name).level for name in LOGGERS}
    wanted = {name: logging.getLevelNamesMapping()[level] for name, level in expected.items()}
    assert {name: level for name, level in set_levels.items() if level} == wanted


def test_a_word_that_means_nothing_is_named_and_the_rest_is_followed():
    with pytest.warns(AstjitWarning, match="no topic 'fussion'; there are segments, guards, f"):
        follow("fussion,guards")
    assert logging.getLogger("astjit.guards").level == logging.INFO


def test_what_is_printed(tmp_path):
    file = tmp_path / "said.py"
    file.write_text(PROGRAM)

    def said(topics):
        own = {"ASTJIT_LOG": topics, "ASTJIT_CACHE_DIR": str(tmp_path), "CXX": "/nonexistent"}
        environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "ignore", str(file)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return ran.stderr.splitlines()

    printed = said("segments,guards,fusion")
    mul, cumsum, add = "mul (said.py:6)", "torch.cumsum (said.py:6)", "add (said.py:7)"
    assert printed[:6] == [
        "astjit.fusion: f: kernel f_mul (pointwise)",
        f"astjit.fusion: f: library call {cumsum}",
        "astjit.fusion: f: kernel f_add (pointwise)",
        f"astjit.fusion: f: not fused: {mul} -> {cumsum}: torch.cumsum is a library call",
        f"astjit.fusion: f: not fused: {cumsum} -> {add}: torch.cumsum is a library call",
        "astjit.segments: f: program 0, because new",
    ]
    assert printed[6] == "astjit.guards: f: none of 1 fits: x has not 2 dims"
    assert printed[-1] == "astjit.segments: f: program 1, because x has not 2 dims"
    assert said("") == []
