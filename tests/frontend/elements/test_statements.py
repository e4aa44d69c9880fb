from tests.frontend.elements.lowered import text


def test_what_follows_a_return_is_in_the_other_arm():
    def f(x):
        if x > 0:
            return x * 2
        y = x * 3
        return y * y

    made = text(f)
    assert made.count(" if ") == 1
    assert made.index("else()") < made.index("mul %x.1, 3.0")


def test_no_flags_where_an_arm_always_leaves():
    def f(x):
        if x > 0:
            if x > 1:
                return 1.0
            else:
                return 2.0
        return 3.0

    assert "bool[] =" not in text(f)
    assert "logical" not in text(f)
