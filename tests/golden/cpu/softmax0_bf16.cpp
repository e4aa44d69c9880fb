extern "C" void softmax0_kernel(const bf16* x, bf16* out, long outer, long cols, long rows,
                                int threads) {
  Columns<float, 1> all(outer, cols, rows);
#pragma omp parallel num_threads(threads)
  for (Strip<float, 1> strip(all); strip.more();) {
    const long slab = strip.slab;
    const bf16* x_strip = x + slab * rows * cols + strip.first;
    bf16* out_strip = out + slab * rows * cols + strip.first;
    // return torch.softmax(x, dim=-1)   (functions.py:20)
    float column_max[strip_columns];
    columns<8, Max>(strip, {column_max}, [&](long row, long col, auto mask) INLINE {
      const vf x_v = load(x_strip + row * cols + col, mask);
      return x_v;
    });
    float column_sum[strip_columns];
    columns<1, Sum>(strip, {column_sum}, [&](long row, long col, auto mask) INLINE {
      const vf x_v = load(x_strip + row * cols + col, mask);
      return exp(x_v - load(column_max + col, mask));
    });
    each_row(strip, [&](long row, long col, auto mask) INLINE {
      const vf x_v = load(x_strip + row * cols + col, mask);
      const vf div_value = exp(x_v - load(column_max + col, mask)) / load(column_sum + col, mask);
      store(out_strip + row * cols + col, round_bf16(div_value), mask);
    });
  }
}
