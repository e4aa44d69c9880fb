// needs: core reduce thread wait
// The threads of a kernel: each has rows of its own or, where rows are few and long, all share each
// row in chunks. What a reduction gives is the same either way: a chunk of 2^k runs is a subtree
// of its pairwise tree.
struct Team {
  static constexpr long most = 256, least_chunk = 128 * W;
  long rows, chunk = 0;  // 0: rows are not cut
  int last_meeting;      // after which only the leader goes on; 0: none
  Meeting meeting;
  vf part[2][4 * most];  // what each chunk of a row gives, for as many as four reductions
  Team(long rows, long cols, int threads, int meetings = 0) : rows(rows), last_meeting(meetings) {
    if (rows < 4 * threads && rows % threads && cols > least_chunk) chunk = chunk_of(cols);
  }
  static long chunk_of(long size) {
    long chunk = least_chunk;
    while (chunk * most < size) chunk *= 2;
    return chunk;
  }
  static long bound(long count, int more) {  // of what a thread has of `count`
    return count * (omp_get_thread_num() + more) / omp_get_num_threads();
  }
  // Threads that have something to do: who has not need not be woken.
  INLINE int size(int threads) const { return chunk ? threads : few(threads, rows); }
  static int few(int threads, long parts) { return parts > 1 ? (int)least(threads, parts) : 1; }
  INLINE long first() const { return chunk ? 0 : bound(rows, 0); }
  INLINE long last() const { return chunk ? rows : bound(rows, 1); }
  INLINE bool leads() const { return !chunk || omp_get_thread_num() == 0; }
  INLINE int place() const { return chunk ? 0 : omp_get_thread_num(); }  // of its scratch
  INLINE long begin(long size) const {
    return chunk ? least(size, bound((size + chunk - 1) / chunk, 0) * chunk) : 0;
  }
  INLINE long end(long size) const {
    return chunk ? least(size, bound((size + chunk - 1) / chunk, 1) * chunk) : size;
  }
  // Where the parts of the next reduction go: who is late still reads the other half.
  INLINE vf* parts() { return part[meeting.turn() & 1]; }
  bool wait() {  // whether what all have found is this thread's concern
    if (!chunk) return true;
    const bool stays = leads() || meeting.turn() + 1 != last_meeting;
    meeting.wait(omp_get_num_threads(), stays);
    return stays;
  }
};
// The length of rows that threads may share: below, one thread is done before others have woken up.
HELPER long long_row(long cols) { return cols > 1l << 20 ? cols : 0; }
template <int U, class F> HELPER void sweep(const Team& team, long size, F f) {
  sweep<U>(team.begin(size), team.end(size), f);
}
HELPER void put_part(vf* part, long at, vf a) { part[at] = a; }
HELPER void get_part(const vf* part, long at, vf& a) { a = part[at]; }
template <class Op, class F> HELPER auto reduce(Team& team, long size, F body) {
  constexpr int U = Op::chains;
  const long end = team.end(size), step = team.chunk ? team.chunk : size;
  long begin = team.begin(size);
  vf* const part = team.parts();
  auto all = fill(Op::init);
  do {
    all = reduce_lanes<Op, U>(begin, least(begin + step, end), body);
    if (team.chunk && begin < end) put_part(part, begin / step, all);
  } while ((begin += step) < end);
  if (!team.chunk || !team.wait()) return fold<Op>(all);
  Cascade<Op, decltype(all)> cascade;
  const long last = (size - 1) / step;
  for (long at = 0; at <= last; ++at) {
    get_part(part, at, all);
    if (at < last) cascade.add(all);
  }
  return fold<Op>(cascade.total(all));
}
