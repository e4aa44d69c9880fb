"""Rewrites of one function in place, one file each, run in the order that `pipeline` lists.

Each pass takes verified IR and leaves verified IR, keeps the meaning to the last bit and says
whether it changed anything.
"""
