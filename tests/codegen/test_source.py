"""Finishing of text: wrapping, comments, unused declarations, heads."""

from hypothesis import given
from hypothesis import strategies as st

from astjit.codegen.source import WIDTH, Comments, block, parameters, prune, wrap
from astjit.ir.builder import Builder
from astjit.ir.function import Block
from astjit.location import Location

LINES = {("a/model.py", 3): "    h = x + bias", ("a/model.py", 4): "return " + "h * " * 30 + "h"}


def source_line(where):
    return LINES.get((where.file, where.line), "")


def node(line, file="a/model.py"):
    builder = Builder(Block())
    builder.location = Location(file, line) if line else None
    return builder.emit("add", 1.0, 2.0).node


def test_a_line_that_fits_is_left_alone():
    line = "x" * (WIDTH - 4)
    assert wrap(line, 4) == "    " + line


def test_a_long_line_breaks_at_the_last_operator_that_fits():
    terms = [f"value_{i}" for i in range(14)]
    assert wrap(f"const float h = {' + '.join(terms)};", 4) == (
        "    const float h = value_0 + value_1 + value_2 + value_3 + value_4 + value_5 + value_6"
        " + value_7\n"
        "        + value_8 + value_9 + value_10 + value_11 + value_12 + value_13;"
    )


def test_a_long_call_breaks_after_a_comma():
    names = [f"argument_{i}" for i in range(14)]
    assert wrap(f"call({', '.join(names)});", 6).split("\n") == [
        f"      call({', '.join(names[:7])},",
        f"          {', '.join(names[7:])});",
    ]


def test_templates_are_not_taken_for_comparisons():
    line = "const Vec<float, 4> residual_v = load<4>(residual + row_start + col, cols - col); " * 2
    first = wrap(line.rstrip(), 8).split("\n")[0]
    assert len(first) <= WIDTH
    assert first.endswith("load<4>(residual + row_start + col, cols")


def test_comments_and_pragmas_are_never_broken():
    for start in ("// ", "#pragma "):
        line = start + "word " * 30
        assert wrap(line, 2) == "  " + line


def test_a_word_without_a_place_to_break_stays_whole():
    assert wrap("x" * 150, 2) == "  " + "x" * 150


@given(
    st.lists(
        st.sampled_from(["a", "long_name", "f(x)", "-y", "(a + b)", "0.7978846f"]), min_size=1
    ),
    st.integers(0, 12),
)
def test_wrapping_changes_white_space_only_and_fits(terms, indent):
    line = "const float h = " + " * ".join(terms) + ";"
    made = wrap(line, indent)
    assert made.split() == line.split()
    assert max(map(len, made.split("\n"))) <= WIDTH


def test_a_block_is_lines_at_an_indentation():
    assert block(["a;", "b;"], 2) == "  a;\n  b;"
    assert block([], 2) == ""


def test_each_source_line_is_shown_once():
    comments = Comments(source_line)
    assert comments.of([node(3), node(3)]) == ["// h = x + bias   (model.py:3)"]
    assert comments.of([node(3)]) == []
    assert Comments(source_line).of([node(3)]) != []


def test_comments_come_in_the_order_of_the_source():
    shown = Comments(source_line).of([node(4), node(3)])
    assert [line.rsplit(":", 1)[1] for line in shown] == ["3)", "4)"]


def test_two_files_have_lines_of_their_own():
    comments = Comments(lambda where: where.file)
    shown = comments.of([node(3, "a.py"), node(3, "b.py")])
    assert shown == ["// a.py   (a.py:3)", "// b.py   (b.py:3)"]


def test_a_long_source_line_is_cut_so_that_it_fits_where_it_is_indented():
    (line,) = Comments(source_line).of([node(4)])
    assert len(line) <= WIDTH - 6
    assert line.endswith("...   (model.py:4)")
    assert line.startswith("// return h * h * ")


def test_a_node_from_nowhere_or_from_a_lost_line_is_no_trouble():
    assert Comments(source_line).of([node(None)]) == []
    assert Comments(source_line).of([node(99)]) == ["// (model.py:99)"]


def test_prune_drops_what_nothing_after_uses():
    lines = ["const int row = line % rows;", "const long long start = row * cols;"]
    assert prune(lines, "x[start]") == lines
    assert prune(lines, "x[row]") == lines[:1]
    assert prune(lines, "x[0]") == []


def test_prune_knows_pointers_and_whole_words():
    lines = ["const float* x_row = x + row * cols;", "float* y_row = y + row * cols;"]
    assert prune(lines, "store(y_row + col)") == lines[1:]
    assert prune(lines, "store(my_x_row + col)") == []


def test_prune_keeps_statements_and_sees_the_ends_of_texts():
    assert prune(["const int a = 1;", "call(a);"], "") == ["const int a = 1;", "call(a);"]
    assert prune(["const int b = 1;", "call(0);"], "y = b") == ["const int b = 1;", "call(0);"]


def test_a_use_before_the_declaration_does_not_count():
    assert prune(["call(b);", "const int b = 1;"], "") == ["call(b);"]


def test_parameters_are_aligned_under_the_first():
    assert parameters("f(", ["int a", "int b"], ") {") == "f(int a, int b) {"
    many = [f"const float* __restrict__ name{i}" for i in range(4)]
    assert parameters("void f(", many, ") {") == (
        f"void f({many[0]}, {many[1]},\n       {many[2]}, {many[3]}) {{"
    )


def test_after_a_long_name_parameters_begin_on_a_line_of_their_own():
    opening = f"void {'f' * 60}("
    assert parameters(opening, ["int a", "int b"], ") {") == f"{opening}\n    int a, int b) {{"


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 80))
def test_heads_fit(lengths, name):
    declarations = ["d" * n for n in lengths]
    made = parameters("f" * name + "(", declarations, ") {")
    assert max(map(len, made.split("\n"))) <= WIDTH
    assert made.replace("\n", "").replace(" ", "") == (
        "f" * name + "(" + ",".join(declarations) + "){"
    )
