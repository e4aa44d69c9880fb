from astjit.frontend.reads import Container, Fetched, Guard, Leaf, Reads


def test_what_capture_found_starts_empty():
    first, second = Reads(), Reads()
    first.guards.append(Guard("x is None", "x is None"))
    first.constants["torch"] = first
    assert (second.parameters, second.guards, second.constants) == ((), [], {})
    assert second.output == Fetched("None")


def test_templates_are_values():
    made = Container("dict", (Leaf(0), Fetched("x")), ("'a'", "'b'"))
    assert made == Container("dict", (Leaf(0), Fetched("x")), ("'a'", "'b'"))
    assert made != Container("dict", (Leaf(1), Fetched("x")), ("'a'", "'b'"))
    assert hash(made) == hash(Container("dict", (Leaf(0), Fetched("x")), ("'a'", "'b'")))
