"""Where templates are, the one strict Jinja environment, and the digest of all of them.

A checkout keeps `templates/` at top level, where people look for it; a wheel carries the same files
inside the package. `template_root` finds whichever is there, so nothing above needs to know.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

_PACKAGE = Path(__file__).resolve().parent.parent
_HOMES = (_PACKAGE / "templates", _PACKAGE.parent / "templates")  # in a wheel, in a checkout
_LANDMARKS = ("cpu", "cuda")  # tell our folder from any other of the same name


def template_root(homes: Iterable[Path] = _HOMES) -> Path:
    """The first of `homes` that holds the templates.

    Raises:
        FileNotFoundError: none of them does; the installation is incomplete.
    """
    tried = tuple(homes)
    for home in tried:
        if all((home / name).is_dir() for name in _LANDMARKS):
            return home
    wanted, places = " and ".join(_LANDMARKS), ", ".join(map(str, tried))
    raise FileNotFoundError(f"no astjit templates: looked for {wanted} in {places}")


def make_environment(root: Path) -> Environment:
    """An environment over `root` in which a name that nobody gave, or a None, is an error.

    Text is taken as it stands except in `*.html.j2`, where values are escaped.
    """
    return Environment(
        loader=FileSystemLoader(root),
        undefined=StrictUndefined,
        autoescape=select_autoescape(("html.j2",), default=False, default_for_string=False),
        finalize=_refuse_none,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,  # one process renders one state of the templates, the one in its digest
    )


@cache
def environment() -> Environment:
    """The environment that every generated text comes from; made once."""
    return make_environment(template_root())


def render(name: str, **values: object) -> str:
    """The text of template `name` (such as "cuda/row.cu.j2") for these values.

    Raises:
        jinja2.UndefinedError: the template reads a name that is not among `values`.
        jinja2.TemplateNotFound: there is no such template.
        TypeError: an expression of the template gave None.
    """
    return environment().get_template(name).render(values)


def digest(root: Path) -> str:
    """SHA-256, in hex, over the path and the bytes of every file under `root` but hidden ones.

    Helpers in plain C++ and CUDA lie among the templates and end up in the same texts.
    """
    state = hashlib.sha256()
    for path in sorted(root.rglob("[!.]*")):
        if path.is_dir():
            continue
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            length = len(part).to_bytes(8, "little")  # no two different lists of files read alike
            state.update(length + part)
    return state.hexdigest()


@cache
def template_digest() -> str:
    """The digest of all templates, part of every key under which generated code is kept."""
    return digest(template_root())


def _refuse_none(value: Any) -> Any:
    """Jinja would print None as text, which is never meant in a generated program."""
    if value is None:
        raise TypeError("a template printed None")
    return value
