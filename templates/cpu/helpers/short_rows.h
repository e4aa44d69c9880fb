// needs: core reduce row_team
// Short rows are taken W at a time, a lane each: what is a number of one row in a walk along it is
// a vector of W rows here. Their elements lie column by column in tiles.
constexpr long short_row = 48;  // from here on a vector of one row at a time is as fast
struct Column {};  // a mask: one column of W rows
template <class T> struct Tile {  // of the rows that begin at `home`
  float* at;
  T* home;
  long stride;
  INLINE Tile operator+(long col) const { return {at + col * W, home, stride}; }
};
template <class T> struct Every {  // what is the same for all rows
  const T* at;
  INLINE Every operator+(long col) const { return {at + col}; }
};
template <class T> HELPER vf load(Tile<T> p, Column) { return load(p.at, Full{}); }
HELPER vi load(Tile<const bool> p, Column) { return load((const int*)p.at, Full{}); }
HELPER vi load(Tile<bool> p, Column) { return load((const int*)p.at, Full{}); }
template <class T> HELPER void store(Tile<T> p, vf v, Column) { store(p.at, v, Full{}); }
template <class T> HELPER void store(Tile<T> p, vi v, Column) { store(p.at, (vf)v, Full{}); }
HELPER vf fill(vf a) { return a; }
HELPER vf first_lane(vf a) { return fill(a[0]); }
HELPER vi first_lane(vi a) { return vi{} + a[0]; }
template <class T> HELPER auto load(Every<T> p, Column) {
  return first_lane(load(p.at, Tail{1}));
}

// Four columns of W rows: 4 x 4 elements are turned within each quarter of a vector.
typedef float v4 __attribute__((vector_size(16)));
template <int at, int... I> HELPER vf by_one(vf a, vf b, Lanes<I...>) {
  return __builtin_shufflevector(a, b, ((I & ~3) + at + (I & 2) / 2 + (I & 1) * W)...);
}
template <int at, int... I> HELPER vf by_two(vf a, vf b, Lanes<I...>) {
  return __builtin_shufflevector(a, b, ((I & ~3) + at + (I & 1) + (I & 2) / 2 * W)...);
}
HELPER void turn(vf (&a)[4]) {
  const AllLanes all;
  const vf b0 = by_one<0>(a[0], a[1], all), b1 = by_one<0>(a[2], a[3], all);
  const vf b2 = by_one<2>(a[0], a[1], all), b3 = by_one<2>(a[2], a[3], all);
  a[0] = by_two<0>(b0, b1, all), a[1] = by_two<2>(b0, b1, all);
  a[2] = by_two<0>(b2, b3, all), a[3] = by_two<2>(b2, b3, all);
}
HELPER v4 four(const float* p) {
  v4 a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
// Four elements at p, at p + step, ...
HELPER vf every_fourth(const float* p, [[maybe_unused]] long step) {
#if defined(__AVX2__)
  const auto two = [&](long row) INLINE {
    const v4 a = four(p + row * step), b = four(p + (row + 1) * step);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  };
#if defined(__AVX512F__)
  return __builtin_shufflevector(two(0), two(2), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                 15);
#else
  return two(0);
#endif
#else
  return four(p);
#endif
}
template <int q> HELPER void put_quarter(float* p, vf a) {
  const v4 b = __builtin_shufflevector(a, a, 4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3);
  __builtin_memcpy(p, &b, sizeof b);
}
static void to_columns(float* tile, const float* rows, long stride, long cols) {
  long col = 0;
  for (; col + 4 <= cols; col += 4) {
    vf a[4];
    each<4>([&](auto k) INLINE { a[k] = every_fourth(rows + k * stride + col, 4 * stride); });
    turn(a);
    each<4>([&](auto k) INLINE { store(tile + (col + k) * W, a[k], Full{}); });
  }
  for (; col < cols; ++col)
    for (int row = 0; row < W; ++row) tile[col * W + row] = rows[row * stride + col];
}
static void to_rows(float* rows, const float* tile, long stride, long cols) {
  long col = 0;
  for (; col + 4 <= cols; col += 4) {
    vf a[4];
    each<4>([&](auto k) INLINE { a[k] = load(tile + (col + k) * W, Full{}); });
    turn(a);
    each<4>([&](auto k) INLINE {
      each<W / 4>([&](auto q) INLINE {
        put_quarter<q>(rows + (4 * q + k) * stride + col, a[k]);
      });
    });
  }
  for (; col < cols; ++col)
    for (int row = 0; row < W; ++row) rows[row * stride + col] = tile[col * W + row];
}

// W rows or, at the end, fewer; who walks along them sees what a Team shows of one row.
template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<const float> = true;
template <int tiles> struct Block {
  long cols;
  int count;
  alignas(4 * W) float tile[tiles][short_row * W];
  alignas(4 * W) float flat[short_row * W];
  explicit Block(long cols) : cols(cols) {}
  // f(first, last, at): elements of rows that lie side by side, and where they are in `flat`.
  template <class F> INLINE void runs(long stride, F f) {
    if (stride == cols) return f(0, count * cols, 0);
    for (long row = 0; row < count; ++row)
      f(row * stride, row * stride + cols, row * cols - row * stride);
  }
  template <class T> INLINE Tile<T> in(int k, T* p, long stride) {
    if (is_float<T> && count == W) to_columns(tile[k], (const float*)p, stride, cols);
    else {
      for (long i = 0; count < W && i < W * cols; i += W) store(flat + i, vf{}, Full{});
      runs(stride, [&](long first, long last, long at) INLINE {
        sweep<1>(first, last, [&](long i, auto, auto mask) INLINE {
          store(flat + at + i, (vf)load(p + i, mask), mask);
        });
      });
      to_columns(tile[k], flat, cols, cols);
    }
    return {tile[k], p, stride};
  }
  template <class T> INLINE Tile<T> out(int k, T* p, long stride) { return {tile[k], p, stride}; }
  template <class T> INLINE void write(Tile<T> rows) {
    if (is_float<T> && count == W) return to_rows((float*)rows.home, rows.at, rows.stride, cols);
    to_rows(flat, rows.at, cols, cols);
    typedef decltype(load(rows, Column{})) V;
    runs(rows.stride, [&](long first, long last, long at) INLINE {
      sweep<1>(first, last, [&](long i, auto, auto mask) INLINE {
        store(rows.home + i, (V)load(flat + at + i, mask), mask);
      });
    });
  }
  INLINE Tile<float> scratch(int k, float* p) { return {tile[k], p, 0}; }
  INLINE int place() const { return 0; }
  template <class T> INLINE Every<T> every(const T* p) const { return {p}; }
  template <class T> INLINE auto value(const T* p) const {
    return count == W ? load(p, Full{}) : load(p, Tail{count});
  }
  template <class T, class V> INLINE void set(T* p, V v) const {
    if (count == W) store(p, v, Full{});
    else store(p, v, Tail{count});
  }
};
template <class Op, int tiles, class F> HELPER auto reduce(Block<tiles>&, long size, F body) {
  constexpr long run = 8;
  typedef decltype(fill(Op::init)) V;
  Cascade<Op, V> cascade;
  for (long col = 0;;) {
    const long end = Op::rounds ? least(col + run, size) : size;
    V all = fill(Op::init);
    for (; col < end; ++col) all = Op::combine(all, body(col, Column{}));
    if (end == size) return cascade.total(all);
    cascade.add(all);
  }
}
template <int U, int tiles, class F> HELPER void sweep(Block<tiles>&, long size, F f) {
  for (long col = 0; col < size; ++col) f(col, Const<0>{}, Column{});
}
// One row, or a thread's part of one.
HELPER float one(vf a) { return a[0]; }
HELPER bool one(vi a) { return a[0] != 0; }
HELPER void set_one(float* p, float v) { *p = v; }
HELPER void set_one(bool* p, bool v) { *p = v; }
template <class T> HELPER void set_one(T* p, float v) { store(p, fill(v), Tail{1}); }
struct Single : Team {
  using Team::Team;
  template <class T> INLINE T* in(int, T* p, long) const { return p; }
  template <class T> INLINE T* out(int, T* p, long) const { return p; }
  template <class T> INLINE T* scratch(int, T* p) const { return p; }
  template <class T> INLINE const T* every(const T* p) const { return p; }
  template <class T> INLINE void write(T*) const {}
  template <class T> INLINE auto value(const T* p) const { return one(load(p, Tail{1})); }
  template <class T, class V> INLINE void set(T* p, V v) const {
    if (leads()) set_one(p, v);
  }
};
// f(team, row) for all rows: short ones in blocks, others one by one or shared.
template <int tiles, class F>
HELPER void for_rows(long rows, long cols, long shared, int threads, F f) {
  if (cols <= short_row) {
    const long blocks = (rows + W - 1) / W;
#pragma omp parallel num_threads(Team::few(threads, blocks)) firstprivate(f)
    {
      Block<tiles> block(cols);
      const long last = Team::bound(blocks, 1);
      for (long at = Team::bound(blocks, 0); at < last; ++at) {
        block.count = least(W, rows - at * W);
        f(block, at * W);
      }
    }
    return;
  }
  Single team(rows, long_row(shared), threads);
#pragma omp parallel num_threads(team.size(threads)) firstprivate(f)
  for (long row = team.first(); row < team.last(); ++row) f(team, row);
}
