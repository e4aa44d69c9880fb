"""Names in generated text: the user's where possible, never a keyword, a helper or another name."""

import keyword
import re
import unicodedata
from collections.abc import Iterable

_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
    const constexpr continue decltype default delete do double else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new not not_eq nullptr operator
    or or_eq private protected public register requires return short signed sizeof static struct
    switch template this throw true try typedef typeid typename union unsigned using virtual void
    volatile while xor xor_eq main NULL INFINITY NAN threadIdx blockIdx blockDim gridDim warpSize
    min max std exp log sin cos tan tanh sqrt pow fabs floor ceil round abs expf logf sinf cosf tanf
    tanhf sqrtf powf fabsf y0 y1 yn j0 j1 jn printf vprintf malloc free assert memcpy memset half
    float4
    log2 exp2 log10 exp10 log2f exp2f
"""
_C_WORDS = frozenset(_WORDS.split())


class Names:
    """Hands out identifiers that are unique in one scope and its parents."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, wish: str) -> str:
        """`wish` made a C identifier, with a number after it if it is taken."""
        base = identifier(wish)
        name, count = base, 1
        while name in self._taken or name in _C_WORDS:
            count += 1
            name = f"{base}{'_' if base[-1].isdigit() else ''}{count}"
        self._taken.add(name)
        return name

    def reserve(self, name: str) -> str:
        """Mark `name` as taken and return it."""
        self._taken.add(name)
        return name

    def __contains__(self, name: str) -> bool:
        return name in self._taken or name in _C_WORDS

    def child(self) -> "Names":
        """A scope inside this one."""
        return Names(self._taken)


def identifier(wish: str) -> str:
    """`wish` with what C does not allow in a name spelled out."""
    plain = unicodedata.normalize("NFKC", wish)
    text = "".join(
        c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in plain
    )
    text = re.sub(r"__+", "_", text).strip("_") or "value"
    if text[0].isdigit() or keyword.iskeyword(text):
        text = f"v_{text}"
    return text
