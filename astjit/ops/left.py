"""Elementwise functions of PyTorch that are library calls on purpose, with the reason.

`tests/ops/test_left.py` asks PyTorch which of its functions are elementwise: each has a row, or
stands here.
"""

_SERIES = "a series of its own, which one of the targets or both lack"
_COMPLEX = "of complex numbers"
_LOOPS = "loops until its operands are done"

LEFT = {
    **dict.fromkeys(
        (
            *("digamma", "mvlgamma", "polygamma", "igamma", "igammac", "erfinv"),
            *("i0", "special_i0e", "special_i1", "special_i1e", "special_ndtri"),
            *("special_log_ndtr", "special_erfcx", "special_zeta", "special_airy_ai"),
            *("special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"),
            *("special_modified_bessel_i0", "special_modified_bessel_i1"),
            *("special_modified_bessel_k0", "special_modified_bessel_k1"),
            *("special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1"),
            "special_spherical_bessel_j0",
        ),
        _SERIES,
    ),
    **dict.fromkeys(
        (
            *(f"special_chebyshev_polynomial_{kind}" for kind in "tuvw"),
            *(f"special_shifted_chebyshev_polynomial_{kind}" for kind in "tuvw"),
            *("special_hermite_polynomial_h", "special_hermite_polynomial_he"),
            *("special_laguerre_polynomial_l", "special_legendre_polynomial_p"),
            *("gcd", "lcm"),
        ),
        _LOOPS,
    ),
    **dict.fromkeys(("angle", "conj_physical"), _COMPLEX),
    "lgamma": "near its zeros no bound of its error is known on either target",
    "equal": "one Python bool for two tensors",
    "frexp": "two results of two dtypes",
    "special_entr": "rarely used: minus `xlogy(x, x)` is a row",
    "binary_cross_entropy": "looks at values first: outside of 0 to 1 it raises",
    "gaussian_nll_loss": "looks at values first: a negative variance raises",
}
