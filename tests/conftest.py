"""What all tests share: golden texts, the gpu marker, hypothesis without deadlines."""

import difflib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).resolve().parent / "golden"

# What tests build is kept apart from what the user's programs built, and from run to run.
os.environ["ASTJIT_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"astjit-tests-{os.getuid()}")

# A deadline would be a timing in a test; the machine may be busy.
settings.register_profile("astjit", deadline=None, print_blob=True)
settings.load_profile("astjit")


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the texts of tests/golden instead of comparing them; then read the diff",
    )


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    import torch  # noqa: PLC0415 - a second that most runs need not wait for

    if not torch.cuda.is_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture
def golden(request):
    """`golden("cuda/softmax.cu", text)`: the text is what tests/golden/cuda/softmax.cu holds.

    With --update-golden the file is written instead, for a person to read in the diff.
    """
    update = request.config.getoption("--update-golden")

    def check(name, text, folder=GOLDEN):
        path = folder / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.is_file():
            pytest.fail(
                f"no tests/golden/{name}; `pytest --update-golden` writes it", pytrace=False
            )
        kept = path.read_text(encoding="utf-8")
        if kept != text:
            lines = kept.splitlines(keepends=True), text.splitlines(keepends=True)
            diff = "".join(difflib.unified_diff(*lines, f"tests/golden/{name}", "rendered now"))
            pytest.fail(f"{diff}\nIf this is meant: `pytest --update-golden`", pytrace=False)

    return check
