"""Where the templates are and the one strict environment that renders them.

Every generated text (CUDA, C++, the host function, the report) comes through this room, so that a
misspelled name is an error in all of them and one digest stands for all templates in cache keys.
"""
