// needs:
// Where threads wait for each other: a short while awake, then asleep, so that one that has no
// core does not wait for one that merely spins on it, as OpenMP's barrier does for milliseconds.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
extern "C" long kernel_call(long, ...) __asm__("syscall");  // a name that no header declares
#if defined(__x86_64__)
constexpr long futex = 202;
#else
constexpr long futex = 98;
#endif
static inline void sleep_while(int* word, int value) {
  kernel_call(futex, word, 128, value, nullptr);
}
static inline void wake_all(int* word) { kernel_call(futex, word, 129, 0x7fffffff); }
#else
extern "C" int sched_yield();
static inline void sleep_while(int*, int) { sched_yield(); }
static inline void wake_all(int*) {}
#endif
struct Meeting {
  int arrived = 0, turns = 0;
  int turn() const { return __atomic_load_n(&turns, __ATOMIC_ACQUIRE); }
  void wait(int threads, bool stays = true) {
    const int now = turn();
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == threads) {
      __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&turns, now + 1, __ATOMIC_RELEASE);
      wake_all(&turns);
      return;
    }
    if (!stays) return;
    for (int spin = 0; spin < 2000; ++spin)
      if (turn() != now) return;
    while (turn() == now) sleep_while(&turns, now);
  }
};
