// needs: core reduce_each row_team
// Element by element: the chunks' parts in halves, whoever computed them.
template <class Op, class T, class P> static T halves(const P* part, long count) {
  if (count == 1) return part[0];
  const long half = count / 2;
  return Op::combine(halves<Op, T>(part, half), halves<Op, T>(part + half, count - half));
}
template <class Op, class T, class F>
static T reduce_each(Team& team, long size, T init, F body) {
  const long chunk = Team::chunk_of(size), end = team.end(size);
  if (!team.chunk && size <= chunk) return reduce_each<Op>(0, size, init, body);
  typedef T Part __attribute__((may_alias));
  Part own[Team::most] = {init};
  Part* part = team.chunk ? (Part*)team.parts() : own;
  for (long begin = team.begin(size); begin < end; begin += chunk)
    part[begin / chunk] = reduce_each<Op>(begin, least(begin + chunk, end), init, body);
  if (!team.wait()) return init;
  return halves<Op, T>(part, size ? (size + chunk - 1) / chunk : 1);
}
