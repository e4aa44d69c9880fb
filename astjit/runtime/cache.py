"""Machine code on disk, shared by processes: content-addressed, verified on read, never in the way.

    ~/.cache/astjit/3f/3f9c...so     the file's bytes, then their SHA-256

A file is written under another name and moved into place, so that no reader sees half of one. A
file whose digest is wrong counts as absent and is replaced. A folder that cannot be written or
read is as good as none. The trailer keeps content and digest in one file; loaders ignore it.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from astjit.config import read_environment

_DIGEST = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where machine code is kept: ASTJIT_CACHE_DIR, or `astjit` in the user's cache folder."""
    return Path(read_environment().cache_dir).expanduser()


class DiskCache:
    """Files by key and suffix under one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, key: str, suffix: str) -> Path:
        """Where the content of `key` is, or would be."""
        return self._folder / key[:2] / f"{key}{suffix}"

    def find(self, key: str, suffix: str) -> Path | None:
        """The file of `key` if it is there and whole."""
        path = self.path(key, suffix)
        return path if self._whole(path) is not None else None

    def read(self, key: str, suffix: str) -> bytes | None:
        """The content of `key`, None if it is absent or damaged."""
        return self._whole(self.path(key, suffix))

    def store(self, key: str, suffix: str, content: bytes) -> Path | None:
        """Keep `content`; its path, or None when the folder cannot be written."""
        path = self.path(key, suffix)
        name = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=suffix)
            with os.fdopen(handle, "wb") as file:
                file.write(content + hashlib.sha256(content).digest())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except OSError:
            if name:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            return None
        return path

    def _whole(self, path: Path) -> bytes | None:
        try:
            found = path.read_bytes()
        except OSError:
            return None
        content, digest = found[:-_DIGEST], found[-_DIGEST:]
        return content if hashlib.sha256(content).digest() == digest else None
