"""Where text becomes machine code: one record for each target, and how it is built and loaded.

A target says which languages it spells ops in, what it can hold and how a unit of text turns into
something that can be called. CUDA needs no device to build, the CPU needs a C++ compiler.
"""
