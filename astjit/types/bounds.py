"""What the form alone says of the number that a size is: a symbol is 0 or at least 2.

never_negative(x0 + x1 // 2)  =>  True        never_one(x0 * x1 + 2)  =>  True
never_negative(x0 - 1)        =>  False       never_one(x0 + 1)       =>  False
"""

from astjit.types.dim import Dim, Expr, Sym, terms_of


def never_negative(dim: Dim) -> bool:
    """Whether the form alone shows that a size is at least 0."""
    match dim:
        case int():
            return dim >= 0
        case Sym():
            return True
        case Expr("floordiv" | "mod", (left, int() as right)):
            return right > 0 and (dim.op == "mod" or never_negative(left))
        case Expr("add" | "mul" | "min" | "max", args):
            return all(map(never_negative, args))
    return False


def never_one(dim: Dim) -> bool:
    """Whether the form alone shows that a size is not 1; symbols are 0 or at least 2."""
    match dim:
        case int():
            return dim != 1
        case Sym():
            return True
        case Expr("min" | "max", args):
            return all(never_one(arg) and never_negative(arg) for arg in args)
        case Expr("floordiv" | "mod"):
            return False
    terms = terms_of(dim)  # each 0 or at least 2
    constant = terms.pop((), 0)
    return constant >= 0 and constant != 1 and all(map(_zero_or_several, terms, terms.values()))


def _zero_or_several(factors: tuple[Dim, ...], scale: int) -> bool:
    """Whether a term is 0 or at least 2."""
    several = scale > 1 or any(map(never_one, factors))
    return scale > 0 and several and all(map(never_negative, factors))
