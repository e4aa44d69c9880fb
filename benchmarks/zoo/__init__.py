"""Models as people write them, small and with random weights: what benchmarks and tests compile."""
