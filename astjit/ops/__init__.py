"""Everything astjit knows of an op, one row each, merged into one table.

A row says how the op is recognised, typed, laid out, evaluated, spelled and differentiated.
The rest of the compiler asks the row, so that a new op is one row and nothing else.
"""
