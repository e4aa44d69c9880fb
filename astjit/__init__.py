"""PyTorch functions captured as SSA, fused, and rendered as CUDA C++ that people can read."""

__all__: list[str] = []
