// needs: core reduce row_team
// Several reductions in one walk: body gives lanes_of a value for each.
template <class T, int N> struct Several {
  T of[N];
  INLINE T& operator[](int k) { return of[k]; }
  INLINE const T& operator[](int k) const { return of[k]; }
};
template <class... T> HELPER Several<vf, sizeof...(T)> lanes_of(T... a) { return {{a...}}; }
template <int K, class Op, class... Ops> struct Nth {
  typedef typename Nth<K - 1, Ops...>::Type Type;
};
template <class Op, class... Ops> struct Nth<0, Op, Ops...> { typedef Op Type; };
template <class... Ops> struct Each {
  static constexpr int N = sizeof...(Ops), chains = N == 2 ? 2 : 1;
  static constexpr bool rounds = (Ops::rounds || ...);
  static constexpr Several<float, N> init = {{Ops::init...}};
  template <class T> HELPER Several<T, N> combine(Several<T, N> a, const Several<T, N>& b) {
    each<N>([&](auto k) INLINE { a[k] = Nth<k, Ops...>::Type::combine(a[k], b[k]); });
    return a;
  }
};
template <int N> HELPER Several<vf, N> fill(const Several<float, N>& a) {
  Several<vf, N> v;
  each<N>([&](auto k) INLINE { v[k] = fill(a[k]); });
  return v;
}
template <class M, int N>
HELPER Several<vf, N> pick(M mask, Several<vf, N> a, const Several<vf, N>& b) {
  each<N>([&](auto k) INLINE { a[k] = pick(mask, a[k], b[k]); });
  return a;
}
template <class... Ops, int N> HELPER Several<float, N> fold_each(Each<Ops...>, Several<vf, N> a) {
  Several<float, N> v;
  each<N>([&](auto k) INLINE { v[k] = fold<typename Nth<k, Ops...>::Type>(a[k]); });
  return v;
}
template <class Op, int N> HELPER Several<float, N> fold(const Several<vf, N>& a) {
  return fold_each(Op{}, a);
}
template <int N> HELPER void put_part(vf* part, long at, const Several<vf, N>& a) {
  each<N>([&](auto k) INLINE { part[at * N + k] = a[k]; });
}
template <int N> HELPER void get_part(const vf* part, long at, Several<vf, N>& a) {
  each<N>([&](auto k) INLINE { a[k] = part[at * N + k]; });
}
