"""What `astjit.explain` tells about a call, part by part.

python examples/reading_explain.py
"""

import torch

import astjit


@astjit.compile
def scores(q, k, mask):
    """Attention weights: PyTorch does the matmul, one kernel the masked softmax."""
    logits = q @ k.transpose(-1, -2) * 0.125
    weights = torch.softmax(logits.masked_fill(mask, float("-inf")), -1)
    return weights, torch.cumsum(weights, -1)


@astjit.compile
def told(x):
    """Something with an effect: the print stays Python, what is before it is compiled."""
    y = x * 2
    print("seen", y.shape)
    return y


def main() -> None:
    """Print the reports, and then their parts."""
    q, k = torch.randn(4, 32, 64), torch.randn(4, 48, 64)
    mask = torch.ones(32, 48, dtype=torch.bool).triu(1)
    report = astjit.explain(scores, q, k, mask)
    print(report)

    print("\nkernel by kernel:")
    for kernel in report.kernels:
        lines = ", ".join(str(place.line) for place in kernel.lines)
        print(
            f"  {kernel.name} computes lines {lines} as a {kernel.kind} kernel, {kernel.variant}:"
        )
        print(f"    {kernel.reads} bytes read, {kernel.writes} written, {kernel.flops} operations")
        for arch, used in kernel.resources.items():
            print(f"    {arch}: {used.registers} registers, {used.stack} bytes of stack")

    print("\nwhat goes through memory, and why:")
    for edge in report.unfused:
        print(f"  {edge.producer} -> {edge.consumer}: {edge.reason}")

    print("\nwhat is left to Python, and why:")
    for left in astjit.explain(told, q).fallbacks:
        print(f"  line {left.line}, {left.text}: {left.reason}")


if __name__ == "__main__":
    main()
