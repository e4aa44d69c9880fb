// needs: core
// chains: accumulators side by side that keep the adders busy without using up the registers.
struct Sum {
  static constexpr int chains = 2;
  static constexpr float init = 0.0f;
  static constexpr bool rounds = true;
  template <class T> HELPER T combine(T a, T b) { return a + b; }
};
struct Max {  // NaN wins, as in torch.amax
  static constexpr int chains = 4;
  static constexpr float init = -__builtin_inff();
  static constexpr bool rounds = false;
  template <class T> HELPER T combine(T a, T b) {
    const T larger = a > b ? a : b;  // b if either is NaN
    return a != a ? a : larger;
  }
};
struct Min {
  static constexpr int chains = 4;
  static constexpr float init = __builtin_inff();
  static constexpr bool rounds = false;
  template <class T> HELPER T combine(T a, T b) {
    const T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
