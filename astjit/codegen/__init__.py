"""From a kernel to text: the plain values that a template may read, and the template of its kind.

Decisions are taken here in Python; the templates place what they are given.
"""
