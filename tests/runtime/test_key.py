import pytest

from astjit.runtime.key import bare, unit_key

TEXT = "int f() {\n  return 1;\n}\n"


@pytest.mark.parametrize(
    "same",
    [
        "// of model.py:3\n" + TEXT,
        TEXT.replace("1;", "1;  // one"),
        "#line 12\n" + TEXT,
        TEXT.replace("\n", "\n\n"),
        "/* two\nlines */" + TEXT,
    ],
)
def test_comments_lines_and_blanks_do_not_count(same):
    assert unit_key(same, "-O2") == unit_key(TEXT, "-O2")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (TEXT.replace("1", "2"), ("-O2", "g++ 12")),
        (TEXT, ("-O3", "g++ 12")),
        (TEXT, ("-O2", "g++ 13")),
        (TEXT, ("-O2g++ 12",)),
        (TEXT, ("g++ 12", "-O2")),
    ],
)
def test_everything_that_decides_the_code_counts(text, facts):
    assert unit_key(text, *facts) != unit_key(TEXT, "-O2", "g++ 12")


def test_the_key_is_whole():
    assert len(unit_key(TEXT)) == 64


def test_preprocessor_lines_stay():
    assert bare("#define A 1  // one\n#line 3\n  a\n") == "#define A 1\n  a"
