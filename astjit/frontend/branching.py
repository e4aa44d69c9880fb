"""An `if` in the capture copy of which both arms are captured.

    if x.sum() > 0:               __astjit_1__ = H.choice((4, 7), (...), x.sum() > 0)
        y = x * 2                 for __astjit_2__ in __astjit_1__:
    else:                             __astjit_1__.enter(H.here())
        y = x + 1                     if 'y' in __astjit_1__.gone: del y
    return y                          if 'y' in __astjit_1__.given: y = __astjit_1__.given['y']
                                      if __astjit_2__:
                                          y = ...
                                      else:
                                          y = ...
                                      __astjit_1__.leave(H.here())
                                  if 'y' in __astjit_1__.gone: del y
                                  if 'y' in __astjit_1__.ends: y = __astjit_1__.ends['y']

Only arms of which no statement leaves them, and that change nothing but local names.
"""

import ast

from astjit.frontend.counted import NEVER, taken_from, told
from astjit.frontend.flow import Flow, Names, inside, written
from astjit.frontend.syntax import at, text

_TAKEN = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If),
    *(ast.Pass, ast.Assert),
)
Arms = tuple[tuple[str, ...], tuple[str, ...]]


def arms_of(node: ast.If, flow: Flow) -> Arms | None:
    """The names that the arms of an `if` assign, and those of them that are read after it.

    None where the arms do anything else than assign names, or functions see these.
    """
    parts = [part for arm in (node.body, node.orelse) for s in arm for part in inside(s)]
    if not all(isinstance(part, _TAKEN) for part in parts):
        return None
    if any(isinstance(part, NEVER) for s in parts for part in ast.walk(s)):
        return None
    assigned: Names = frozenset().union(*map(written, (*node.body, *node.orelse)))
    if assigned & flow.always:
        return None
    live = assigned & (flow.live[id(node)] | flow.caught[id(node)])
    return tuple(sorted(assigned)), tuple(sorted(live))


def both(
    node: ast.If, arms: Arms, held: str, arm: str, made: ast.expr, here: ast.expr
) -> list[ast.stmt]:
    """Statements that let both arms of an `if`, whose parts are rewritten already, be captured.

    Args:
        node: the `if`.
        arms: what its arms do to names.
        held: a name for the object that chooses.
        arm: a name for which arm it is.
        made: an expression that makes that object of the condition.
        here: an expression for the local variables.
    """
    assigned, _ = arms
    node.test = ast.Name(arm, ast.Load())
    restored = [
        part for n in assigned for part in (_unbound(held, n), taken_from(held, "given", n))
    ]
    body = [told(held, "enter", here), *restored, node, told(held, "leave", here)]
    after = [part for n in assigned for part in (_unbound(held, n), taken_from(held, "ends", n))]
    found: list[ast.stmt] = [
        ast.Assign([ast.Name(held, ast.Store())], made),
        ast.For(ast.Name(arm, ast.Store()), ast.Name(held, ast.Load()), body, []),
        *after,
        ast.Delete([ast.Name(held, ast.Del()), ast.Name(arm, ast.Del())]),
    ]
    return [at(part, made) for part in found]


def _unbound(held: str, name: str) -> ast.stmt:
    """`if 'name' in held.gone: del name`."""
    gone = ast.Attribute(ast.Name(held, ast.Load()), "gone", ast.Load())
    return ast.If(
        ast.Compare(text(name), [ast.In()], [gone]), [ast.Delete([ast.Name(name, ast.Del())])], []
    )
