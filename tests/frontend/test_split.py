import textwrap

import pytest

from astjit.frontend.split import rewritten_source
from astjit.frontend.stops import Stop


def keep(function):
    return function


# fmt: off
@keep
# above the signature
def norm(x, /, w: "float" = 1e-6, *rest, eps=(1,
    2), **named) -> int:  # the signature
    """Doc.

    More of it.
    """
    # a comment of its own
    y = x + w  # at the end of a line
    # another
    return y


class Box:
    def method(self, x): return x

    def longer(self, x):
        text = """a
text"""
        return x, text


double = lambda x, *rest, k=1: x * 2  # noqa: E731
# fmt: on


def test_signature_decorators_docstring_and_comments_stay():
    assert rewritten_source(norm) == textwrap.dedent('''\
        @keep
        # above the signature
        def norm(x, /, w: "float" = 1e-6, *rest, eps=(1,
            2), **named) -> int:  # the signature
            """Doc.

            More of it.
            """
            # a comment of its own
            # another
            return __astjit_segment_0__(x, w, *rest, eps=eps, **named)
        ''')


def test_methods_lambdas_and_one_line_functions():
    assert rewritten_source(Box.method) == (
        "def method(self, x): return __astjit_segment_0__(self, x)\n"
    )
    assert rewritten_source(Box.longer) == (
        "def longer(self, x):\n    return __astjit_segment_0__(self, x)\n"
    )
    assert rewritten_source(double) == (
        "lambda x, *rest, k=1: __astjit_segment_0__(x, *rest, k=k)\n"
    )


def test_no_source_stops():
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(Stop):
        rewritten_source(names["f"])
