"""What stands in for helpers that hold inline PTX, by name: g++ knows no PTX.

A replacement keeps the helper's own signature, whatever its parameters are called and whether
16-bit values travel as structs or as bits; only the body changes. The functions named here are in
include/cuda_half.h, and each has a test in test_emulator_half.py.
"""

import re

from tests.emulator.text import (
    closing,
    parameter_list,
    parse_parameter,
    split_definitions,
    without_comments,
)

# Helper name -> the expression it returns; {0}, {1} are its parameters.
REPLACEMENTS = {
    "narrow_bf16": "emulator::float_to_bf16({0})",
    "widen_bf16": "emulator::bf16_to_float(emulator::bits_of({0}))",
    "narrow_f16": "emulator::float_to_f16({0})",
    "widen_f16": "emulator::f16_to_float(emulator::bits_of({0}))",
    "max_nan": "emulator::max_nan({0}, {1})",
    "min_nan": "emulator::min_nan({0}, {1})",
    "keep_packed": "{0}",
}

_ASM = re.compile(r"\basm\b")


class MissingReplacementError(KeyError):
    """A helper holds inline PTX, and no row of REPLACEMENTS says what it means."""

    def __str__(self):
        return f"helper {self.args[0]!r} holds inline PTX: add a row to REPLACEMENTS, and a test"


def without_inline_ptx(helpers):
    """Returns the helper section with every body that holds inline PTX replaced.

    Definitions keep their line numbers through `#line` directives.

    Raises:
        MissingReplacementError: for a helper with inline PTX that has no replacement.
    """
    pieces = []
    for definition in split_definitions(helpers):
        text = definition.text
        if _ASM.search(without_comments(text)):
            if definition.name not in REPLACEMENTS:
                raise MissingReplacementError(definition.name)
            text = _with_body(definition.name, text, REPLACEMENTS[definition.name])
        pieces.append(f'#line {definition.line} "helpers"\n{text}\n')
    return "\n".join(pieces)


def _with_body(name, text, expression):
    code = without_comments(text)
    opening = re.search(rf"\b{name}\s*\(", code).end() - 1
    parameters = [parse_parameter(part).name for part in parameter_list(code, opening)]
    body = code.index("{", closing(code, opening))
    # Braces make a struct of bits out of bits, and are no conversion for a plain result.
    return text[:body] + "{\n  return {" + expression.format(*parameters) + "};\n}"
