from tests.frontend.elements.lowered import N, X, refused, text


def test_the_text_of_a_loop_does_not_depend_on_its_length():
    def body(x, n):
        for i in range(n):
            x = x * 0.5 + i
        return x

    def ten(x):
        return body(x, 10)

    def many(x):
        return body(x, 10_000)

    assert text(ten).replace("10,", "10000,") == text(many).replace("many", "ten")
    assert "range 0, %n.1, 1" in text(body, X, N)


def test_only_what_is_needed_is_carried():
    def f(x):
        total = 0.0
        for i in range(5):
            t = x * i
            u = t + 1
            total = total + u
        return total

    (line,) = [line for line in text(f).splitlines() if "= range" in line]
    assert line.strip() == "%total = range 0, 5, 1, 0.0 : f32[] {"


def test_a_break_in_the_body_is_the_arm_of_an_if():
    def f(x):
        s = x
        for i in range(100):
            if s > 10:
                break
            s = s * 2
        return s

    assert "{breaks=true}" in text(f)


def test_a_loop_is_unrolled_where_its_index_must_be_known():
    def f(x):
        for i in range(3):
            x = x + (1.0, 2.0, 3.0)[i]
        return x

    assert text(f).count("add") == 3
    assert "range" not in text(f)


def test_max_trips_is_the_limit_of_a_while():
    def f(x):
        while x < 10:
            x = x + 1
        return x

    assert "limit" not in text(f)
    assert "while %x.1 {limit=7}" in text(f, max_trips=7)


def test_a_value_that_becomes_another_thing_is_refused():
    def f(x):
        y = "a"
        for i in range(3):
            y = x
        return y

    assert refused(f)[0] == "AJ105"
