"""What runs at each call: guards, the host program, and the oracle that needs no compiler.

A program is text and plain records, so it can be read, stored and compared.
"""
