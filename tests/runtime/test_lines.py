from astjit.runtime.lines import call_lines, indented, joined


def test_long_calls_are_cut():
    assert call_lines("f(", ["a", "b"], 20) == ["f(a, b)"]
    assert call_lines("f(", ["first", "second", "third"], 15) == [
        "f(",
        "    first,",
        "    second,",
        "    third",
        ")",
    ]


def test_texts():
    assert indented(["a", "b"], 2) == ["        a", "        b"]
    assert joined(["a", "b"]) == "a\nb\n"
