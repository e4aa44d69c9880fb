"""The wheel is whole: built, installed in a fresh environment, it compiles and runs a function."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

USER = '''
import pathlib, sys
import torch
import astjit
from astjit.text.environment import template_root

assert pathlib.Path(astjit.__file__).is_relative_to(sys.prefix), astjit.__file__
assert template_root() == pathlib.Path(astjit.__file__).parent / "templates", template_root()

@astjit.compile(fullgraph=True)
def scaled(x, w):
    """A row divided by its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

x, w = torch.randn(5, 33), torch.randn(33)
torch.testing.assert_close(scaled(x, w), scaled.__wrapped__(x, w))
print(scaled.cuda_source(x, w, arch="sm_90"))
'''


def run(*command, cwd, **more):
    """What the command printed.  `-I` in it keeps this checkout and PYTHONPATH out of sight.

    `more` are variables of its environment.
    """
    environment = {**os.environ, **more}
    ran = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    # hatchling is among the tools of the tests, so nothing is fetched here.
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def fresh_python(wheel, tmp_path_factory):
    """A new environment with the wheel, and behind it the packages of this one (torch is large)."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=home)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = run(python, "-I", "-c", where, cwd=home)
    # A .pth adds the folder after the environment's own, and does not read the .pth files in it,
    # so the editable install of this checkout stays out.
    Path(site.strip(), "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.mark.slow
def test_wheel_holds_every_module_and_template(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "astjit").rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    }
    templates = {
        f"astjit/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "templates").rglob("*")
        if path.is_file()
    }
    assert templates
    assert names == package | templates


@pytest.mark.slow
def test_installed_wheel_compiles_and_runs(fresh_python, tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER)
    # cuda-python looks for NVRTC in an environment's own packages only, not in borrowed ones
    (nvrtc,) = Path(sysconfig.get_path("purelib")).glob("nvidia/*/lib/libnvrtc.so.*")
    printed = run(fresh_python, "-I", script, cwd=tmp_path, LD_LIBRARY_PATH=str(nvrtc.parent))
    assert 'extern "C" __global__' in printed
    assert "rsqrt" in printed
