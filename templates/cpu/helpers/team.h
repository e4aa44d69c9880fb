// needs: core thread
extern "C" int omp_get_num_threads();
HELPER long lower_half(long n) {  // the largest power of two below n > 1
  return 1l << (63 - __builtin_clzl(n - 1));
}
// Rows added up one by one: a column's error shows whole, where a row's is the mean over its lanes.
constexpr long run_rows = 8;
constexpr long strip_columns = 8 * W, most_parts = 32;
// All columns of a kernel, in strips. Each thread takes strips of its own, or, where there are
// fewer strips than threads, all take parts of the rows of one. A part has run_rows * 2^k rows: it
// is a subtree of the whole, so the result is the same however many threads there are.
template <class T, int N> struct Columns {
  long slabs, cols, rows, strips, part_rows, parts;
  T work[2][N][most_parts][strip_columns];
  INLINE Columns(long slabs, long cols, long rows) : slabs(slabs), cols(cols), rows(rows) {
    strips = (cols + strip_columns - 1) / strip_columns;
    for (part_rows = 4 * run_rows; (rows + part_rows - 1) / part_rows > most_parts;) part_rows *= 2;
    parts = rows > part_rows ? (rows + part_rows - 1) / part_rows : 1;
  }
};
// The strips of one thread, one after the other.
template <class T, int N> struct Strip {
  Columns<T, N>& all;
  bool shared, leads;
  long next, last, slab, first, width, first_part, last_part, begin, end;
  int turn = 0;
  INLINE Strip(Columns<T, N>& all) : all(all) {
    const long thread = omp_get_thread_num(), team = omp_get_num_threads();
    const long count = all.slabs * all.strips;
    shared = count < team && all.parts > 1;
    leads = !shared || thread == 0;
    next = shared ? 0 : thread * count / team;
    last = shared ? count : (thread + 1) * count / team;
    first_part = shared ? thread * all.parts / team : 0;
    last_part = shared ? (thread + 1) * all.parts / team : all.parts;
    begin = begin_of(first_part), end = last_part > first_part ? end_of(last_part - 1) : begin;
  }
  INLINE bool more() {
    if (next == last) return false;
    slab = next / all.strips, first = next % all.strips * strip_columns;
    width = least(strip_columns, all.cols - first);
    ++next;
    return true;
  }
  INLINE long begin_of(long part) const { return part * all.part_rows; }
  INLINE long end_of(long part) const { return least(begin_of(part + 1), all.rows); }
  INLINE T* part(int n, long part) const { return all.work[turn][n][part]; }
  INLINE void meet() const {
#pragma omp barrier
  }
};
