"""The program as values: SSA with regions, its text, its parser and its verifier.

A function and the body of a kernel are the same records at two levels. What is printed here can be
parsed back, which makes every stage of the compiler something to read, compare and review.
"""
