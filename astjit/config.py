"""One frozen record of options. The environment is read here and nowhere else."""

import os
from dataclasses import dataclass
from typing import Literal

Numerics = Literal["eager", "fp32"]


@dataclass(frozen=True, slots=True)
class Config:
    """How one decorated function is compiled.

    Attributes:
        fullgraph: raise instead of running eagerly when something cannot be captured.
        dynamic: None: sizes are symbolic; False: every size is pinned; True: none ever is.
        target: "cuda", "cpu" or None (by the device of the inputs).
        numerics: "eager": every operation rounds to its own dtype; "fp32": only at stores.
        disabled: wrappers stay, nothing is compiled (ASTJIT_DISABLE=1).
        max_ops: more operations than this in one segment run eagerly.
    """

    fullgraph: bool = False
    dynamic: bool | None = None
    target: str | None = None
    numerics: Numerics = "eager"
    disabled: bool = False
    max_ops: int = 4000


@dataclass(frozen=True, slots=True)
class Environment:
    """What the process environment says, read once at import and again by `read_environment`."""

    disabled: bool = False
    target: str | None = None
    cxx: str | None = None
    cache_dir: str = "~/.cache/astjit"
    log: str = ""


def read_environment() -> Environment:
    """The options given through environment variables."""
    get = os.environ.get
    return Environment(
        disabled=get("ASTJIT_DISABLE", "") not in ("", "0"),
        target=get("ASTJIT_TARGET") or None,
        cxx=get("CXX") or None,
        cache_dir=get("ASTJIT_CACHE_DIR")
        or os.path.join(get("XDG_CACHE_HOME") or "~/.cache", "astjit"),
        log=get("ASTJIT_LOG", ""),
    )
