import ast

from astjit.frontend.runs import Marks, Run, place


def test_marks_only_grow_and_their_state_tells():
    marks = Marks()
    states = [marks.state()]
    marks.python[3, 4] = "an effect"
    states.append(marks.state())
    for kind in (marks.inert, marks.cuts, marks.tests):
        kind.add((5, 4))
        states.append(marks.state())
    marks.cuts.add((5, 4))
    assert len(set(states)) == 5
    assert marks.state() == states[-1]


def test_equal_runs_have_equal_keys():
    text = "a = x\nb = a\nreturn b"

    def run(*numbers, tail=None, reads=("x",), results=()):
        body = ast.parse(text).body
        return Run(
            tuple(body[n] for n in numbers), reads, results, None if tail is None else body[tail]
        )

    assert run(0, 1).key == run(0, 1).key
    others = [run(0), run(0, 1, tail=2), run(0, 1, reads=()), run(0, 1, results=("b",)), run(1)]
    assert len({each.key for each in (run(0, 1), *others)}) == 6
    assert [place(node) for node in run(0, tail=2).statements] == [(1, 0), (3, 0)]
    test = ast.parse("x > 1").body[0].value
    assert Run((), ("x",), test=test).first is test
