def rms_norm(x, residual, w, eps):
    try:
        if type(x) not in PLAIN or x.dtype is not float32 or not x.is_cpu or not x.is_contiguous():
            return MISS
        if (
            type(residual) not in PLAIN
            or residual.dtype is not float32
            or not residual.is_cpu
            or not residual.is_contiguous()
        ):
            return MISS
        if type(w) not in PLAIN or w.dtype is not float32 or not w.is_cpu or not w.is_contiguous():
            return MISS
        if type(eps) is not float:
            return MISS
        x0, x1 = x.shape
        residual0, residual1 = residual.shape
        (w0,) = w.shape
        if x0 == 1 or x1 == 1 or residual0 != x0 or residual1 != x1 or w0 != x1:
            return MISS
        # gradients run eagerly
        if grad_enabled() and (x.requires_grad or residual.requires_grad or w.requires_grad):
            return MISS
    except Exception:
        return MISS
    # (model.py:2)
    # (model.py:3)
    h = empty_strided_cpu((x0, x1), (x1 or 1, 1), float32)
    y = empty_strided_cpu((x0, x1), (x1 or 1, 1), float32)
    rms_norm_kernel(
        x.data_ptr(), residual.data_ptr(), w.data_ptr(), h.data_ptr(), y.data_ptr(), x0, x1, eps,
        threads(16*x0*x1 + 4*x1)
    )
    return (h, y)
