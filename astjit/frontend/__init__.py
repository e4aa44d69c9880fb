"""From a Python function to SSA: its source is rewritten, then run once on symbolic tensors.

Nothing the user can see happens during capture, and everything that was read on the way is kept
with its path, to become a guard.
"""
