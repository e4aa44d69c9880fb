// needs: core combine team
// The values that one sweep combines, and the combines; a single value is a plain vector.
template <int N> struct Values { vf at[N]; };
template <int I> HELPER vf nth(vf a) { return a; }
template <int I, int N> HELPER vf nth(Values<N> a) { return a.at[I]; }
template <class First, class... Rest> struct Ops {
  static constexpr int count = 1 + sizeof...(Rest);
  template <int I> static INLINE vf init() {
    if constexpr (I == 0) return fill(First::init);
    else return Ops<Rest...>::template init<I - 1>();
  }
  template <int I> static INLINE vf combine(vf a, vf b) {
    if constexpr (I == 0) return First::combine(a, b);
    else return Ops<Rest...>::template combine<I - 1>(a, b);
  }
};

// f(col, vectors, mask) for the columns of a strip: U vectors at a time, then one.
template <int U, class F> HELPER void each_cols(long width, F f) {
  long col = 0;
  if constexpr (U > 1)
    for (; col + U * W <= width; col += U * W) f(col, Const<U>{}, Full{});
  for (; col + W <= width; col += W) f(col, Const<1>{}, Full{});
  if (col < width) f(col, Const<1>{}, Tail{(int)(width - col)});
}
template <class F> HELPER void each_col(long width, F f) {
  each_cols<1>(width, [&](long col, auto, auto mask) INLINE { f(col, mask); });
}
// f(row, col, mask) for the rows of a strip that are this thread's.
template <class S, class F> HELPER void each_row(S& strip, F f) {
  for (long row = strip.begin; row < strip.end; ++row)
    each_col(strip.width, [&](long col, auto mask) INLINE { f(row, col, mask); });
}
template <class All, int U, class F> HELPER void each_value(F f) {
  each<All::count>([&](auto n) INLINE { each<U>([&](auto u) INLINE { f(n, u); }); });
}

// All over body(row, col, mask) for rows [begin, end): runs of a few rows, then a pairwise tree
// over the runs, in which level k holds 2^k of them or nothing.
template <class All, int U, class To, class F>
HELPER void runs_of(long begin, long end, long width, const To& to, F body) {
  float level[40][All::count][strip_columns];
  for (long runs = 0; runs == 0 || begin < end; ++runs, begin += run_rows) {
    const long stop = least(begin + run_rows, end);
    each_cols<U>(width, [&](long col, auto vectors, auto mask) INLINE {
      constexpr int V = vectors;
      vf acc[All::count][V];
      each_value<All, V>([&](auto n, auto u) INLINE { acc[n][u] = All::template init<n>(); });
      for (long row = begin; row < stop; ++row)
        each<V>([&](auto u) INLINE {
          const auto made = body(row, col + u * W, mask);
          each<All::count>([&](auto n) INLINE {
            acc[n][u] = All::template combine<n>(acc[n][u], nth<n>(made));
          });
        });
      int k = 0;
      for (; runs >> k; ++k) {
        if (runs >> k & 1)
          each_value<All, V>([&](auto n, auto u) INLINE {
            const vf before = load(level[k][n] + col + u * W, Full{});
            acc[n][u] = All::template combine<n>(before, acc[n][u]);
          });
        else if (stop < end) break;
      }
      each_value<All, V>([&](auto n, auto u) INLINE {
        if (stop < end) store(level[k][n] + col + u * W, acc[n][u], Full{});
        else store(to[n] + col + u * W, acc[n][u], mask);
      });
    });
  }
}
// Parts [begin, begin + count) of a strip combined: the same tree goes on.
template <class All, int n, class S, class M>
static vf parts_of(const S& strip, long begin, long count, long col, M mask) {
  if (count == 1) return load(strip.part(n, begin) + col, mask);
  const long half = lower_half(count);
  const vf a = parts_of<All, n>(strip, begin, half, col, mask);
  const vf b = parts_of<All, n>(strip, begin + half, count - half, col, mask);
  return All::template combine<n>(a, b);
}

// Every Op over body(row, col, mask) for all rows of a strip, to[n][col] for the n-th; U vectors of
// columns at a time.
template <int U, class... Op, class S, class F>
HELPER void columns(S& strip, float* const (&to)[sizeof...(Op)], F body) {
  typedef Ops<Op...> All;
  const long step = strip.shared ? 1 : strip.last_part;  // alone: all rows are one part
  for (long part = strip.first_part; part < strip.last_part; part += step) {
    float* parts[All::count];
    each<All::count>([&](auto n) INLINE {
      parts[n] = strip.shared ? strip.part(n, part) : to[n];
    });
    const long end = strip.shared ? strip.end_of(part) : strip.end;
    runs_of<All, U>(strip.begin_of(part), end, strip.width, parts, body);
  }
  if (!strip.shared) return;
  strip.meet();
  each<All::count>([&](auto n) INLINE {
    each_col(strip.width, [&](long col, auto mask) INLINE {
      store(to[n] + col, parts_of<All, n>(strip, 0, strip.all.parts, col, mask), mask);
    });
  });
  strip.turn ^= 1;
}
