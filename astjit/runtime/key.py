"""The key under which machine code is kept: everything that decides it, and nothing else (D20).

    unit_key("void f() {}  // softmax", "-O2", "g++ 12.2.0", "x86_64-3f...")  =>  "9c1e..."

Comments and blank lines are left out, so that moving a function within its file builds nothing.
"""

import hashlib
import re

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r"^[ \t]*#[ \t]*line\b[^\n]*", re.MULTILINE)


def bare(text: str) -> str:
    """C++ text without comments, `#line` directives, blank lines and trailing blanks.

    Generated text has no comment sign inside a string.
    """
    text = _LINE.sub("", _COMMENT.sub("", text))
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def unit_key(text: str, *facts: str) -> str:
    """SHA-256, in hex, of a unit's bare text and of what else decides its machine code.

    Args:
        text: the source.
        facts: options, compiler version, CPU features or architecture; their order counts.
    """
    state = hashlib.sha256()
    for part in (bare(text), *facts):
        encoded = part.encode()
        state.update(len(encoded).to_bytes(8, "little") + encoded)
    return state.hexdigest()
