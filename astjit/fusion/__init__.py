"""Which values share a kernel, what that kernel is, and how it is cut for given sizes.

A function comes in; kernels, library calls and host regions go out. Each edge that could have been
fused and was not carries the reason, for people who wonder where their bandwidth went.
"""
