"""The element language: a scalar function, lowered from its syntax tree to the region of a `map`.

Nothing is run to find out what a function does: every node of its tree is lowered, or refused with
a code and a caret. What Python can know (strings, tuples, functions, closures) is evaluated as the
tensor language does it, with the same guards; what depends on an element becomes SSA.
"""
