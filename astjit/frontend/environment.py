"""Environment variables that the function reads: guarded by their values.

environ.get("FORCE", "0") == "1"     guard `environ.get('FORCE') is None`, or its text
"""

import os
from collections.abc import Mapping

from astjit.frontend.session import Session
from astjit.frontend.stops import Stop

READS = ("get", "__getitem__", "__contains__")


def environment_call(
    session: Session, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """A method of os.environ; `os.getenv` is its `get`.

    Raises:
        KeyError: as Python does.
        Stop: for another method than one that reads a variable.
    """
    key = args[0] if args else kwargs.get("key")
    if name not in READS or not isinstance(key, str):
        raise Stop(f"os.environ.{name}() is an effect")
    theirs = os.environ  # astjit's own options are read by config.py alone
    environ, found = session.outside.constant("environ", theirs), theirs.get(key)
    session.capture.guard(
        f"{environ}.get({key!r}) == {found!r}", f"the environment variable {key} is {found!r}"
    )
    return getattr(theirs, name)(*args, **kwargs)
