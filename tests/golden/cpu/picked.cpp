extern "C" void picked_kernel(const float* scores, const float* scores2, const long* index,
                              float* out, long rows, long cols, long scores2_stride_rows,
                              int* status, int threads) {
  if (cols == 0 && rows != 0) return void(*status = 1);
  Team team(rows, long_row(cols), threads);
#pragma omp parallel num_threads(team.size(threads))
  for (long row = team.first(); row < team.last(); ++row) {
    const float* scores_row = scores + row * cols;
    const float* scores2_row = scores2 + row * scores2_stride_rows;
    // return torch.log_softmax(scores, -1).gather(1, index)   (test_golden_texts.py:22)
    const float row_max = reduce<Max>(team, cols, [=](long col, auto mask) INLINE {
      const vf scores_v = load(scores_row + col, mask);
      return scores_v;
    });
    const float row_sum = reduce<Sum>(team, cols, [=](long col, auto mask) INLINE {
      const vf scores_v = load(scores_row + col, mask);
      return exp(scores_v - row_max);
    });
    const float sub_value = scores2_row[checked(index[row], cols, status)] - row_max - log(row_sum);
    if (team.leads()) out[row] = sub_value;
  }
}
