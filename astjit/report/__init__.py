"""The facts of one compilation, gathered for people: kernels, fallbacks, edges left unfused."""
